#include <algorithm>

#include "core/graph/evaluate_ops.h"
#include "core/graph/evaluate_strided.h"

namespace regraft::graph {
namespace {

using Dims64 = std::vector<std::int64_t>;

/// Runs f with a value of the tensor's element type.
template <typename F>
void by_element(const HostTensor& tensor, const F& f) {
  if (is_float(tensor.dtype))
    f(double{});
  else
    f(std::int64_t{});
}

std::int64_t outer_of(const HostTensor& x, std::size_t axis) {
  return element_count(std::span<const std::int64_t>(x.dims).first(axis));
}

std::int64_t inner_of(const HostTensor& x, std::size_t axis) {
  return element_count(std::span<const std::int64_t>(x.dims).subspan(axis));
}

HostTensor concat(const AttrBlock& attrs, Inputs inputs) {
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  Dims64 dims = inputs[0]->dims;
  dims.at(axis) = 0;
  for (const HostTensor* input : inputs) dims[axis] += input->dims.at(axis);
  HostTensor result = make_tensor(inputs[0]->dtype, dims);
  const std::int64_t row = inner_of(result, axis);
  by_element(result, [&](auto element) {
    using T = decltype(element);
    std::int64_t at = 0;
    for (const HostTensor* input : inputs) {
      const std::int64_t part = inner_of(*input, axis);
      const T* in = elements<T>(*input).data();
      for (std::int64_t i = 0; i < outer_of(result, axis); ++i)
        std::copy_n(in + i * part, part, elements<T>(result).data() + i * row + at);
      at += part;
    }
  });
  return result;
}

std::int64_t resolved_index(OpKind kind, std::int64_t index, std::int64_t size) {
  const std::int64_t at = index < 0 ? index + size : index;
  if (at < 0 || at >= size)
    refuse(kind, "index " + std::to_string(index) + " is outside of " + std::to_string(size));
  return at;
}

HostTensor gather(const AttrBlock& attrs, const HostTensor& x, const HostTensor& indices) {
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  Dims64 dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  HostTensor result = make_tensor(x.dtype, dims);
  const std::int64_t inner = inner_of(x, axis + 1);
  by_element(x, [&](auto element) {
    using T = decltype(element);
    T* out = elements<T>(result).data();
    for (std::int64_t i = 0; i < outer_of(x, axis); ++i)
      for (const std::int64_t index : indices.integer) {
        const std::int64_t at = resolved_index(OpKind::gather, index, x.dims[axis]);
        out = std::copy_n(elements<T>(x).data() + (i * x.dims[axis] + at) * inner, inner, out);
      }
  });
  return result;
}

HostTensor gather_elements(const AttrBlock& attrs, const HostTensor& x, const HostTensor& indices) {
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  const Dims64 strides = strides_of(x.dims);
  HostTensor result = make_tensor(x.dtype, indices.dims);
  Dims64 at(indices.dims.size(), 0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t source = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t index = k == axis ? indices.integer[i] : at[k];
      source += resolved_index(OpKind::gather_elements, index, x.dims[k]) * strides[k];
    }
    by_element(x, [&](auto element) {
      using T = decltype(element);
      elements<T>(result)[i] = elements<T>(x)[static_cast<std::size_t>(source)];
    });
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < indices.dims[k]) break;
      at[k] = 0;
    }
  }
  return result;
}

HostTensor moved(const HostTensor& x, const Movement& movement) {
  HostTensor result = make_tensor(x.dtype, movement.dims);
  by_element(x, [&](auto element) {
    using T = decltype(element);
    copy_strided<T>(movement.view, elements<T>(x).data(), elements<T>(result).data());
  });
  return result;
}

}  // namespace

HostTensor evaluate_split_part(const AttrBlock& attrs, const HostTensor& input, std::size_t part) {
  return moved(input, strided_movement(OpKind::split, attrs, input.dims, part));
}

HostTensor evaluate_movement(OpKind kind, const AttrBlock& attrs, Inputs inputs) {
  const HostTensor& x = *inputs[0];
  switch (kind) {
    case OpKind::concat:
      return concat(attrs, inputs);
    case OpKind::gather:
      return gather(attrs, x, *inputs[1]);
    case OpKind::gather_elements:
      return gather_elements(attrs, x, *inputs[1]);
    default:
      return moved(x, strided_movement(kind, attrs, x.dims, 0));
  }
}

}
