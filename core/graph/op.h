#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/graph/attributes.h"
#include "core/graph/types.h"

namespace regraft::graph {

class Tables;

/// What rules and costs understand. Everything else is `opaque`: kept intact, never rewritten.
enum class OpKind : std::uint16_t {
  input,   // a graph input
  weight,  // a constant: an initializer, a Constant node, or an expression over them
  opaque,
  // elementwise, one input
  relu,
  leaky_relu,
  elu,
  sigmoid,
  hard_sigmoid,
  hard_swish,
  tanh,
  softplus,
  erf,
  gelu,
  exp,
  log,
  sqrt,
  reciprocal,
  neg,
  abs,
  floor,
  ceil,
  round,
  sign,
  sin,
  cos,
  clip,
  identity,
  cast,
  logical_not,
  // elementwise with broadcasting
  add,
  sub,
  mul,
  div,
  pow,
  max,
  min,
  sum,
  prelu,
  equal,
  greater,
  less,
  greater_or_equal,
  less_or_equal,
  logical_and,
  logical_or,
  where,
  cast_like,
  // linear
  matmul,
  gemm,
  conv,
  conv_transpose,
  // normalisation
  batch_norm,
  layer_norm,
  instance_norm,
  softmax,
  log_softmax,
  // reduction and pooling
  reduce_mean,
  reduce_sum,
  reduce_max,
  reduce_min,
  max_pool,
  average_pool,
  global_average_pool,
  global_max_pool,
  // data movement
  reshape,
  flatten,
  transpose,
  squeeze,
  unsqueeze,
  concat,
  split,
  slice,
  gather,
  gather_elements,
  expand,
  tile,
  pad,
  // shape arithmetic
  shape,
  constant_of_shape,
  // later ones: numbers of ops go into hashes, which order what is equal otherwise
  multi_head_attention,
  resize,
  quantize_linear,
  dequantize_linear,
  einsum,
  lstm,
  gru,
  count_  // number of kinds
};

/// Neither an input nor a constant of the graph.
inline bool is_operation(OpKind kind) {
  return kind != OpKind::input && kind != OpKind::weight;
}

/// One forward pass over rows in time order: an LSTM of the standard, or a GRU with linear_before_reset.
inline bool is_recurrence(OpKind kind) {
  return kind == OpKind::lstm || kind == OpKind::gru;
}

inline constexpr std::size_t kOpKinds = static_cast<std::size_t>(OpKind::count_);

enum OpTrait : std::uint32_t {
  kElementwise = 1u << 0,  // out[i] depends on in[i] alone (after broadcasting)
  kCommutative = 1u << 1,  // two inputs may be swapped
  kVariadic = 1u << 2,     // any number of inputs
  kMultiOutput = 1u << 3,  // several outputs: output_count
  kMonotone = 1u << 4,     // elementwise and non-decreasing: commutes with max
  kFoldable = 1u << 5,     // graph/evaluate.h can compute it on constants
  kMovement = 1u << 6,     // only moves or repeats elements
};

/// One attribute an op takes. Without a default it is required, unless `optional`.
struct AttrSpec {
  Attr attr;
  std::optional<AttrValue> fallback;
  bool optional = false;  // may be absent in canonical form too (operand given at run time)
};

/// An input that is an attribute in canonical form whenever it is constant: Reshape's input 1 is `shape`.
struct OperandAttr {
  std::uint8_t input;
  Attr attr;
};

/// An operand as inference sees it: its type, its value when constant, and else what is known of its
/// elements.
struct Operand {
  TypeId type{};
  WeightId value = WeightId::none;
  bool present = true;  // false for an optional input that is left out
  std::span<const Element> elements = {};
};

using TypeList = InlineVector<TypeId, 2>;

/// One row of the op table. To add an op: one row in op_table.cc, its inference there or in infer_*.cc, and,
/// where wanted, evaluation (evaluate.cc), cost (core/cost) and rules.
struct OpInfo {
  OpKind kind;
  std::string_view name;  // ONNX op_type
  std::uint8_t min_inputs;
  std::uint8_t max_inputs;  // ignored for variadic ops
  std::uint32_t traits;
  std::span<const AttrSpec> attrs;
  std::span<const OperandAttr> operand_attrs;
  /// Output types in canonical form. Throws GraphError when the operands cannot be meant.
  TypeList (*infer)(Tables& tables, const OpInfo& op, const AttrBlock& attrs,
                    std::span<const Operand> operands);
  /// Resolves what depends on the operands' ranks (negative axes, defaults a spatial dim); null where nothing
  /// does.
  void (*normalise)(Tables& tables, const OpInfo& op, AttrBlock& attrs, std::span<const Operand> operands);
  /// Empty: the standard's own. Else a runtime's, which has the op since version 1 of the domain.
  std::string_view domain = {};

  bool is(OpTrait trait) const { return (traits & trait) != 0; }
};

const OpInfo& op_info(OpKind kind);
/// By ONNX op_type ("Conv"), of any domain; nothing for an op that we do not know.
std::optional<OpKind> op_from_name(std::string_view name);
/// The domains of known ops beside the standard's: what `--allow-domain` takes.
std::span<const std::string_view> runtime_domains();

/// Number of outputs the op has with these attributes.
std::size_t output_count(OpKind kind, const AttrBlock& attrs);

/// The canonical form of an op: constant operands moved into attributes (and dropped from `operands` from the
/// end), defaults filled in, negative axes resolved, auto_pad already made explicit by the importer. Where an
/// operand is not constant the attribute stays absent and the operand stays. Throws GraphError on attributes
/// that the op does not take or on wrong types.
AttrBlock canonical_attrs(Tables& tables, OpKind kind, AttrBlock attrs, InlineVector<Operand, 4>& operands);

/// Output types of an op in canonical form.
TypeList infer_types(Tables& tables, OpKind kind, const AttrBlock& attrs, std::span<const Operand> operands);

}
