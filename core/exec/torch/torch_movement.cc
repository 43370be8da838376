#include <algorithm>
#include <numeric>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/torch/torch_ops.h"
#include "core/graph/taken_elements.h"

namespace regraft::exec {
namespace {

using at::Tensor;
using graph::Attr;
using K = graph::OpKind;
using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

Ints required(std::optional<Ints> values, const char* what) {
  if (!values) throw ExecError(std::string("needs its ") + what, "oracle", "");
  return *std::move(values);
}

Tensors reshape(const TorchCall& call) {
  const Tensor& x = call.input(0);
  Ints shape = required(call.ints(Attr::shape, 1), "shape");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = x.size(static_cast<std::int64_t>(i));
  }
  return {x.reshape(shape)};
}

Tensors flatten(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(call.attrs.integer(Attr::axis));
  const auto sizes = x.sizes();
  const auto product = [](at::IntArrayRef part) {
    return std::accumulate(part.begin(), part.end(), std::int64_t{1}, std::multiplies<>());
  };
  return {x.reshape({product(sizes.slice(0, axis)), product(sizes.slice(axis))})};
}

Tensors transpose(const TorchCall& call) {
  return {call.input(0).permute(call.attrs.ints(Attr::perm))};
}

Tensors squeeze(const TorchCall& call) {
  const auto axes = call.ints(Attr::axes, 1);
  return {axes ? call.input(0).squeeze(*axes) : call.input(0).squeeze()};
}

Tensors unsqueeze(const TorchCall& call) {
  Tensor x = call.input(0);
  Ints axes = required(call.ints(Attr::axes, 1), "axes");
  const auto rank = x.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) x = x.unsqueeze(axis);
  return {x};
}

Tensors concat(const TorchCall& call) {
  return {at::cat(at::TensorList(call.inputs.data(), call.inputs.size()), call.attrs.integer(Attr::axis))};
}

Tensors split(const TorchCall& call) {
  return call.input(0).split_with_sizes(required(call.ints(Attr::split, 1), "sizes"),
                                        call.attrs.integer(Attr::axis));
}

/// Elements of one dim by their places.
Tensor pick(const Tensor& x, std::int64_t axis, const Ints& places) {
  return x.index_select(axis, at::tensor(places, x.options().dtype(at::kLong)));
}

Tensors slice(const TorchCall& call) {
  Tensor x = call.input(0);
  const Ints starts = required(call.ints(Attr::starts, 1), "starts");
  const Ints ends = required(call.ints(Attr::ends, 2), "ends");
  Ints all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  const Ints axes = call.ints(Attr::axes, 3).value_or(all);
  const Ints steps = call.ints(Attr::steps, 4).value_or(Ints(starts.size(), 1));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    x = pick(x, axes[i], graph::slice_places(x.size(axes[i]), starts[i], ends[i], steps[i]));
  }
  return {x};
}

/// Indices may count from the end.
Tensor from_the_front(const Tensor& indices, std::int64_t size) {
  return at::where(indices < 0, indices + size, indices);
}

Tensors gather(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  const Tensor indices = from_the_front(call.input(1), x.size(axis));
  const auto sizes = x.sizes();
  Ints shape(sizes.begin(), sizes.begin() + axis);
  shape.insert(shape.end(), indices.sizes().begin(), indices.sizes().end());
  shape.insert(shape.end(), sizes.begin() + axis + 1, sizes.end());
  return {x.index_select(axis, indices.flatten()).reshape(shape)};
}

Tensors gather_elements(const TorchCall& call) {
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  return {at::gather(call.input(0), axis, from_the_front(call.input(1), call.input(0).size(axis)))};
}

/// ONNX Expand broadcasts both ways: a 1 in the shape keeps the input's dim.
Tensors expand(const TorchCall& call) {
  const Ints shape = required(call.ints(Attr::shape, 1), "shape");
  return {at::broadcast_tensors({call.input(0), at::empty(shape, call.input(0).options())})[0]};
}

/// The form that repeats elements: dims from the third on are kept or enlarged from one.
Tensors resize(const TorchCall& call) {
  Ints shape = call.input(0).sizes().slice(0, 2).vec();
  const Ints& sizes = call.attrs.ints(Attr::shape);
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return {call.input(0).expand(shape)};
}

Tensors tile(const TorchCall& call) {
  return {call.input(0).repeat(required(call.ints(Attr::repeats, 1), "repeats"))};
}

/// Where each element of a padded dim comes from.
Ints padded_places(std::int64_t size, std::int64_t begin, std::int64_t end, const std::string& mode) {
  Ints places;
  for (std::int64_t i = -begin; i < size + end; ++i) {
    if (mode == "edge") {
      places.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
    } else if (mode == "wrap") {
      places.push_back(((i % size) + size) % size);
    } else {
      places.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
    }
  }
  return places;
}

Tensors pad(const TorchCall& call) {
  Tensor x = call.input(0);
  const Ints given = required(call.ints(Attr::pads, 1), "pads");
  Ints axes(given.size() / 2);
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.ints(Attr::axes, 3).value_or(axes);
  Ints begin(static_cast<std::size_t>(x.dim()), 0), end = begin;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + x.dim() : axes[i]);
    begin[axis] = given[i];
    end[axis] = given[i + axes.size()];
  }
  const std::string& mode = call.attrs.text(Attr::mode);
  Ints order;
  for (std::size_t axis = begin.size(); axis-- > 0;) {
    order.insert(order.end(), {begin[axis], end[axis]});
    const auto place = static_cast<std::int64_t>(axis);
    if (mode != "constant") x = pick(x, place, padded_places(x.size(place), begin[axis], end[axis], mode));
  }
  return {mode == "constant" ? at::constant_pad_nd(x, order, call.number(Attr::value, 2).value_or(0)) : x};
}

Tensors shape(const TorchCall& call) {
  return {at::tensor(call.input(0).sizes(), at::kLong)};
}

Tensors constant_of_shape(const TorchCall& call) {
  const auto dtype = static_cast<graph::DType>(call.attrs.integer(Attr::to));
  return {at::full(call.values(0), call.attrs.real(Attr::value),
                   call.input(0).options().dtype(oracle_type(dtype)))};
}

}  // namespace

TorchRow movement_row(K kind) {
  switch (kind) {
    case K::reshape:
      return reshape;
    case K::flatten:
      return flatten;
    case K::transpose:
      return transpose;
    case K::squeeze:
      return squeeze;
    case K::unsqueeze:
      return unsqueeze;
    case K::concat:
      return concat;
    case K::split:
      return split;
    case K::slice:
      return slice;
    case K::gather:
      return gather;
    case K::gather_elements:
      return gather_elements;
    case K::expand:
      return expand;
    case K::resize:
      return resize;
    case K::tile:
      return tile;
    case K::pad:
      return pad;
    case K::shape:
      return shape;
    case K::constant_of_shape:
      return constant_of_shape;
    default:
      return nullptr;
  }
}

}
