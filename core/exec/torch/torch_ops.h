#pragma once

// Internal to core/exec: what each OpKind means, in LibTorch. In the oracle floating tensors are kDouble,
// integers kLong, booleans kBool.

#include <torch/types.h>

#include <optional>
#include <span>
#include <vector>

#include "core/graph/attributes.h"
#include "core/graph/evaluate.h"
#include "core/graph/op.h"

namespace regraft::exec {

/// One node to run: attributes in canonical form; an absent optional input is an undefined tensor.
struct TorchCall {
  graph::OpKind kind;
  const graph::AttrBlock& attrs;
  std::span<const at::Tensor> inputs;
  /// The inputs whose values are known, on the CPU, by slot: a device need not be asked for them.
  std::span<const at::Tensor> known = {};

  const at::Tensor& input(std::size_t i) const { return inputs[i]; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  bool is_known(std::size_t i) const { return i < known.size() && known[i].defined(); }
  /// The values of an integer operand. Waits for the device where they are not known.
  std::vector<std::int64_t> values(std::size_t slot) const;
  /// The attribute, else the values of the integer operand `slot`, else nothing.
  std::optional<std::vector<std::int64_t>> ints(graph::Attr attr, std::size_t slot) const;
  /// The same for a number.
  std::optional<double> number(graph::Attr attr, std::size_t slot) const;
  /// The same as a number of the first input's type: integers stay integers beside it.
  std::optional<at::Scalar> bound(graph::Attr attr, std::size_t slot) const;
};

using TorchRow = std::vector<at::Tensor> (*)(const TorchCall& call);

/// The row of an op, nullptr for kinds without a meaning of their own (input, weight, opaque). Rows are in
/// torch_elementwise.cc, torch_linear.cc and torch_movement.cc; to add an op, add its row to one of them.
TorchRow torch_row(graph::OpKind kind);

TorchRow elementwise_row(graph::OpKind kind);
TorchRow linear_row(graph::OpKind kind);
TorchRow movement_row(graph::OpKind kind);

/// Runs one node. Throws ExecError naming the op where it has no row or the operands do not fit.
std::vector<at::Tensor> run_torch_op(const TorchCall& call);

at::ScalarType oracle_type(graph::DType dtype);
at::Tensor to_torch(graph::HostTensor tensor);

}
