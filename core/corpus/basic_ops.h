#pragma once

#include "core/corpus/net.h"

namespace regraft::corpus {

// Single operations, in the form that the opset has and as the exporter writes them.

Tensor unary(Net& net, const std::string& op, const Tensor& x, std::vector<Attr> attrs = {});
/// Add, Sub, Mul, Div, Pow and the like, with broadcasting.
Tensor binary(Net& net, const std::string& op, const Tensor& a, const Tensor& b);
Tensor binary(Net& net, const std::string& op, const Tensor& a, double b);
inline Tensor add(Net& net, const Tensor& a, const Tensor& b) {
  return binary(net, "Add", a, b);
}
inline Tensor mul(Net& net, const Tensor& a, const Tensor& b) {
  return binary(net, "Mul", a, b);
}
Tensor matmul(Net& net, const Tensor& a, const Tensor& b);
Tensor softmax(Net& net, const Tensor& x, std::int64_t axis = -1);

Tensor transpose(Net& net, const Tensor& x, const Ints& perm);
/// The shape is a constant, with 0 or -1 where the exporter writes these, or is computed from that of `x`.
Tensor reshape(Net& net, const Tensor& x, const Ints& dims);
Tensor squeeze(Net& net, const Tensor& x, std::int64_t axis);
Tensor unsqueeze(Net& net, const Tensor& x, std::int64_t axis);
Tensor concat(Net& net, const std::vector<Tensor>& parts, std::int64_t axis);
/// Parts of these sizes along an axis.
std::vector<Tensor> split(Net& net, const Tensor& x, std::int64_t axis, const Ints& sizes);
/// The same in equal parts.
std::vector<Tensor> chunk(Net& net, const Tensor& x, std::int64_t axis, std::int64_t parts);
Tensor slice(Net& net, const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
             std::int64_t step = 1);
/// One place of an axis, which goes away.
Tensor select(Net& net, const Tensor& x, std::int64_t axis, std::int64_t place);
Tensor expand(Net& net, const Tensor& x, const Ints& dims);
/// Rows of a table by numbers.
Tensor gather_rows(Net& net, const Tensor& table, const Tensor& ids);

/// ReduceMean, ReduceSum or ReduceMax over axes.
Tensor reduce(Net& net, const std::string& op, const Tensor& x, const Ints& axes, bool keep);

}
