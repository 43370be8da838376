#include <algorithm>
#include <numeric>

#include "core/graph/evaluate_ops.h"

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

struct StridedView {
  Dims64 dims, strides;  // strides in elements of the source; 0 repeats, negative runs backwards
  std::int64_t offset = 0;
};

/// Drops dims of size 1 and joins neighbours that run on.
StridedView simplified(const StridedView& view) {
  StridedView simple;
  simple.offset = view.offset;
  for (std::size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 1) continue;
    const bool joins = !simple.dims.empty() && simple.strides.back() == view.strides[i] * view.dims[i];
    if (joins) {
      simple.dims.back() *= view.dims[i];
      simple.strides.back() = view.strides[i];
    } else {
      simple.dims.push_back(view.dims[i]);
      simple.strides.push_back(view.strides[i]);
    }
  }
  return simple;
}

constexpr std::int64_t kBlock = 16;  // elements a side: 16 cache lines of source and of target

/// out[i * out_step + j] = in[i * step_i + j * step_j] in square blocks.
template <typename T>
void copy_plane(const T* in, T* out, std::int64_t rows, std::int64_t columns, std::int64_t step_i,
                std::int64_t step_j, std::int64_t out_step) {
  for (std::int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (std::int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (std::int64_t i = i0; i < std::min(rows, i0 + kBlock); ++i)
        for (std::int64_t j = j0; j < std::min(columns, j0 + kBlock); ++j)
          out[i * out_step + j] = in[i * step_i + j * step_j];
}

/// Writes the view densely, dims from `axis` on; `plane_axis` is walked together with the last one.
template <typename T>
class StridedCopy {
 public:
  StridedCopy(const StridedView& view, const T* in, T* out) : view_(view), in_(in), out_(out) {
    const std::size_t rank = view_.dims.size();
    out_strides_ = strides_of(view_.dims);
    plane_ = rank;
    for (std::size_t i = 0; i + 1 < rank;
         ++i)  // the dim that is dense in the source, when it is not the last
      if (view_.strides[i] == 1) plane_ = i;
    if (rank >= 2 && plane_ == rank) plane_ = rank - 2;
  }

  void run() {
    const std::size_t rank = view_.dims.size();
    if (rank == 0) {
      out_[0] = in_[view_.offset];
    } else if (rank == 1) {
      copy_plane(in_ + view_.offset, out_, 1, view_.dims[0], 0, view_.strides[0], 0);
    } else {
      walk(0, view_.offset, 0);
    }
  }

 private:
  void walk(std::size_t axis, std::int64_t in_at, std::int64_t out_at) {
    const std::size_t last = view_.dims.size() - 1;
    if (axis == plane_) return walk(axis + 1, in_at, out_at);
    if (axis >= last) {
      copy_plane(in_ + in_at, out_ + out_at, view_.dims[plane_], view_.dims[last], view_.strides[plane_],
                 view_.strides[last], out_strides_[plane_]);
      return;
    }
    for (std::int64_t i = 0; i < view_.dims[axis]; ++i)
      walk(axis + 1, in_at + i * view_.strides[axis], out_at + i * out_strides_[axis]);
  }

  StridedView view_;
  const T* in_;
  T* out_;
  Dims64 out_strides_;
  std::size_t plane_ = 0;
};

HostTensor strided(const HostTensor& x, const StridedView& view, Dims64 out_dims) {
  HostTensor result = make_tensor(x.dtype, std::move(out_dims));
  if (result.size() == 0) return result;
  by_element(x, [&](auto element) {
    using T = decltype(element);
    StridedCopy<T>(simplified(view), elements<T>(x).data(), elements<T>(result).data()).run();
  });
  return result;
}

HostTensor reshaped(const HostTensor& x, Dims64 dims) {
  HostTensor result = x;
  result.dims = std::move(dims);
  if (element_count(result.dims) != static_cast<std::int64_t>(x.size()))
    refuse(OpKind::reshape, "changes the size");
  return result;
}

/// ONNX Reshape: 0 copies a dim, -1 takes what is left.
Dims64 target_shape(const HostTensor& x, const Ints& shape) {
  Dims64 dims(shape);
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) {
      if (i >= x.dims.size()) refuse(OpKind::reshape, "copies a dim that the input lacks");
      dims[i] = x.dims[i];
    }
    if (dims[i] != -1) known *= dims[i];
  }
  const auto left = std::find(dims.begin(), dims.end(), -1);
  if (left != dims.end()) *left = known == 0 ? 0 : static_cast<std::int64_t>(x.size()) / known;
  return dims;
}

HostTensor transpose(const AttrBlock& attrs, const HostTensor& x) {
  const Dims64 strides = strides_of(x.dims);
  StridedView view;
  for (const std::int64_t axis : attrs.ints(Attr::perm)) {
    view.dims.push_back(x.dims.at(static_cast<std::size_t>(axis)));
    view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return strided(x, view, view.dims);
}

Dims64 without_axes(const HostTensor& x, const AttrBlock& attrs) {
  Dims64 dims;
  const Ints& axes = attrs.ints(Attr::axes);
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
      dims.push_back(x.dims[i]);
  return dims;
}

Dims64 with_axes(const HostTensor& x, const AttrBlock& attrs) {
  Dims64 dims;
  const Ints& axes = attrs.ints(Attr::axes);
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.dims.size() + axes.size(); ++i) {
    const bool added = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    dims.push_back(added ? 1 : x.dims.at(next++));
  }
  return dims;
}

Dims64 flattened(const HostTensor& x, const AttrBlock& attrs) {
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  const std::span<const std::int64_t> dims = x.dims;
  return {element_count(dims.first(axis)), element_count(dims.subspan(axis))};
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

HostTensor slice(const AttrBlock& attrs, const HostTensor& x) {
  const Ints &starts = attrs.ints(Attr::starts), &ends = attrs.ints(Attr::ends),
             &axes = attrs.ints(Attr::axes), &steps = attrs.ints(Attr::steps);
  StridedView view{x.dims, strides_of(x.dims), 0};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t span = steps[i] > 0 ? ends[i] - starts[i] : starts[i] - ends[i];
    const std::int64_t step = std::abs(steps[i]);
    view.dims.at(axis) = span <= 0 ? 0 : (span + step - 1) / step;
    view.offset += starts[i] * view.strides[axis];
    view.strides[axis] *= steps[i];
  }
  return strided(x, view, view.dims);
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

HostTensor expand(const AttrBlock& attrs, const HostTensor& x) {
  HostTensor wanted;
  wanted.dims = attrs.ints(Attr::shape);
  const HostTensor* both[] = {&x, &wanted};
  const Dims64 dims = broadcast_dims(OpKind::expand, both);
  return strided(x, {dims, broadcast_strides(x.dims, dims), 0}, dims);
}

HostTensor tile(const AttrBlock& attrs, const HostTensor& x) {
  const Ints& repeats = attrs.ints(Attr::repeats);
  const Dims64 strides = strides_of(x.dims);
  StridedView view;
  Dims64 dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    view.dims.insert(view.dims.end(), {repeats.at(i), x.dims[i]});
    view.strides.insert(view.strides.end(), {0, strides[i]});
    dims.push_back(repeats[i] * x.dims[i]);
  }
  return strided(x, view, dims);
}

}  // namespace

HostTensor evaluate_split_part(const AttrBlock& attrs, const HostTensor& input, std::size_t part) {
  const Ints& sizes = attrs.ints(Attr::split);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  const auto begin = sizes.begin();
  const auto at = static_cast<std::ptrdiff_t>(part);
  const std::int64_t start = std::accumulate(begin, begin + at, std::int64_t{0});
  StridedView view{input.dims, strides_of(input.dims), 0};
  if (start + sizes.at(part) > input.dims.at(axis))
    refuse(OpKind::split, "the parts are larger than the whole");
  view.dims[axis] = sizes[part];
  view.offset = start * view.strides[axis];
  return strided(input, view, view.dims);
}

HostTensor evaluate_movement(OpKind kind, const AttrBlock& attrs, Inputs inputs) {
  const HostTensor& x = *inputs[0];
  switch (kind) {
    case OpKind::identity:
      return x;
    case OpKind::reshape:
      return reshaped(x, target_shape(x, attrs.ints(Attr::shape)));
    case OpKind::flatten:
      return reshaped(x, flattened(x, attrs));
    case OpKind::squeeze:
      return reshaped(x, without_axes(x, attrs));
    case OpKind::unsqueeze:
      return reshaped(x, with_axes(x, attrs));
    case OpKind::transpose:
      return transpose(attrs, x);
    case OpKind::concat:
      return concat(attrs, inputs);
    case OpKind::slice:
      return slice(attrs, x);
    case OpKind::gather:
      return gather(attrs, x, *inputs[1]);
    case OpKind::gather_elements:
      return gather_elements(attrs, x, *inputs[1]);
    case OpKind::expand:
      return expand(attrs, x);
    case OpKind::tile:
      return tile(attrs, x);
    default:
      refuse(kind, "is not folded");
  }
}

}  // namespace regraft::graph
