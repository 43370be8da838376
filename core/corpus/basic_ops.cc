#include "core/corpus/basic_ops.h"

#include <algorithm>
#include <limits>

namespace regraft::corpus {
namespace {

Ints broadcast(const Ints& a, const Ints& b) {
  Ints dims = a.size() >= b.size() ? a : b;
  const Ints& shorter = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = dims[dims.size() - 1 - i];
    dim = std::max(dim, shorter[shorter.size() - 1 - i]);
  }
  return dims;
}

std::size_t at(const Tensor& x, std::int64_t axis) {
  return static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis);
}

/// Operands that were attributes in earlier opsets.
Tensor with_list(Net& net, const std::string& op, const Tensor& x, const Ints& dims, const std::string& attr,
                 const Ints& values, std::int64_t first_opset, std::vector<Attr> attrs = {}) {
  if (net.dialect().opset >= first_opset) return net.node(op, {x, net.list(values)}, dims, std::move(attrs));
  attrs.push_back({attr, values});
  return net.node(op, {x}, dims, std::move(attrs));
}

/// A shape whose leading dims, as long as they are those of `x`, are read from it.
Tensor computed_shape(Net& net, const Tensor& x, const Ints& dims) {
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool kept = i == parts.size() && i < x.dims.size() && x.dims[i] == dims[i];
    if (!kept) {
      parts.push_back(net.list({dims[i]}));
      continue;
    }
    const Tensor shape = net.node("Shape", {x}, {x.rank()});
    const Tensor size =
        net.node("Gather", {shape, net.index(static_cast<std::int64_t>(i))}, {}, {{"axis", 0}});
    parts.push_back(unsqueeze(net, size, 0));
  }
  return concat(net, parts, 0);
}

}  // namespace

Tensor unary(Net& net, const std::string& op, const Tensor& x, std::vector<Attr> attrs) {
  return net.node(op, {x}, x.dims, std::move(attrs));
}

Tensor binary(Net& net, const std::string& op, const Tensor& a, const Tensor& b) {
  return net.node(op, {a, b}, broadcast(a.dims, b.dims));
}

Tensor binary(Net& net, const std::string& op, const Tensor& a, double b) {
  return binary(net, op, a, net.scalar(b));
}

Tensor matmul(Net& net, const Tensor& a, const Tensor& b) {
  const Ints outer_a(a.dims.begin(), a.dims.end() - 2), outer_b(b.dims.begin(), b.dims.end() - 2);
  Ints dims = broadcast(outer_a, outer_b);
  dims.push_back(a.dim(-2));
  dims.push_back(b.dim(-1));
  const std::int64_t rows = b.rank() == 2 ? element_count(a.dims) / a.dim(-1) : a.dim(-2);
  net.count(element_count(dims) * a.dim(-1), rows);
  return net.node("MatMul", {a, b}, dims);
}

Tensor softmax(Net& net, const Tensor& x, std::int64_t axis) {
  return unary(net, "Softmax", x, {{"axis", axis}});
}

Tensor transpose(Net& net, const Tensor& x, const Ints& perm) {
  Ints dims;
  for (const std::int64_t from : perm) dims.push_back(x.dim(from));
  return net.node("Transpose", {x}, dims, {{"perm", perm}});
}

Tensor reshape(Net& net, const Tensor& x, const Ints& dims) {
  const bool keeps_first = x.dim(0) == dims.front();
  if (net.dialect().is(Exporter::torch_raw) && keeps_first)
    return net.node("Reshape", {x, computed_shape(net, x, dims)}, dims);
  Ints shape = dims;
  if (net.dialect().is(Exporter::tensorflow)) shape.front() = -1;
  if (net.dialect().is(Exporter::paddle))
    for (std::size_t i = 0; i < shape.size() && i < x.dims.size() && x.dims[i] == shape[i]; ++i) shape[i] = 0;
  return net.node("Reshape", {x, net.list(shape)}, dims);
}

Tensor squeeze(Net& net, const Tensor& x, std::int64_t axis) {
  Ints dims = x.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at(x, axis)));
  return with_list(net, "Squeeze", x, dims, "axes", {axis}, 13);
}

Tensor unsqueeze(Net& net, const Tensor& x, std::int64_t axis) {
  Ints dims = x.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return with_list(net, "Unsqueeze", x, dims, "axes", {axis}, 13);
}

Tensor concat(Net& net, const std::vector<Tensor>& parts, std::int64_t axis) {
  Ints dims = parts.front().dims;
  std::int64_t& size = dims[at(parts.front(), axis)];
  for (std::size_t i = 1; i < parts.size(); ++i) size += parts[i].dim(axis);
  return net.node("Concat", parts, dims, {{"axis", axis}});
}

std::vector<Tensor> split(Net& net, const Tensor& x, std::int64_t axis, const Ints& sizes) {
  std::vector<Ints> dims;
  for (const std::int64_t size : sizes) {
    dims.push_back(x.dims);
    dims.back()[at(x, axis)] = size;
  }
  if (net.dialect().opset >= 13) return net.nodes("Split", {x, net.list(sizes)}, dims, {{"axis", axis}});
  return net.nodes("Split", {x}, dims, {{"axis", axis}, {"split", sizes}});
}

std::vector<Tensor> chunk(Net& net, const Tensor& x, std::int64_t axis, std::int64_t parts) {
  return split(net, x, axis, Ints(static_cast<std::size_t>(parts), x.dim(axis) / parts));
}

Tensor slice(Net& net, const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
             std::int64_t step) {
  Ints dims = x.dims;
  dims[at(x, axis)] = (end - start + step - 1) / step;
  const bool open = end == x.dim(axis) && net.dialect().is_torch();
  const std::int64_t last = open ? std::numeric_limits<std::int64_t>::max() : end;
  return net.node("Slice", {x, net.list({start}), net.list({last}), net.list({axis}), net.list({step})},
                  dims);
}

Tensor select(Net& net, const Tensor& x, std::int64_t axis, std::int64_t place) {
  if (!net.dialect().is_torch()) return squeeze(net, slice(net, x, axis, place, place + 1), axis);
  Ints dims = x.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at(x, axis)));
  return net.node("Gather", {x, net.index(place)}, dims, {{"axis", axis}});
}

Tensor expand(Net& net, const Tensor& x, const Ints& dims) {
  return net.node("Expand", {x, net.list(dims)}, dims);
}

Tensor gather_rows(Net& net, const Tensor& table, const Tensor& ids) {
  Ints dims = ids.dims;
  dims.insert(dims.end(), table.dims.begin() + 1, table.dims.end());
  return net.node("Gather", {table, ids}, dims, {{"axis", 0}});
}

Tensor reduce(Net& net, const std::string& op, const Tensor& x, const Ints& axes, bool keep) {
  Ints dims;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    const bool gone = std::ranges::any_of(axes, [&](std::int64_t axis) { return at(x, axis) == at(x, i); });
    if (!gone || keep) dims.push_back(gone ? 1 : x.dim(i));
  }
  return with_list(net, op, x, dims, "axes", axes, op == "ReduceSum" ? 13 : 18,
                   {{"keepdims", std::int64_t{keep}}});
}

}
