#include "core/graph/evaluate.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/evaluate_ops.h"
#include "core/graph/tables.h"

namespace regraft::graph {
namespace {

HostTensor constant_of_shape(const AttrBlock& attrs, const HostTensor& shape) {
  HostTensor result = make_tensor(static_cast<DType>(attrs.integer(Attr::to)), shape.integer);
  const double value = attrs.real(Attr::value);
  std::fill(result.real.begin(), result.real.end(), value);
  std::fill(result.integer.begin(), result.integer.end(), static_cast<std::int64_t>(value));
  return result;
}

bool is_plain(DType dtype) {
  return is_float(dtype) || is_integer(dtype) || dtype == DType::boolean;
}

/// Reals for which there are no integer kernels.
bool takes_reals_only(OpKind kind) {
  switch (kind) {
    case OpKind::leaky_relu:
    case OpKind::elu:
    case OpKind::sigmoid:
    case OpKind::hard_sigmoid:
    case OpKind::hard_swish:
    case OpKind::tanh:
    case OpKind::softplus:
    case OpKind::erf:
    case OpKind::gelu:
    case OpKind::exp:
    case OpKind::log:
    case OpKind::sqrt:
    case OpKind::reciprocal:
    case OpKind::floor:
    case OpKind::ceil:
    case OpKind::round:
    case OpKind::sin:
    case OpKind::cos:
      return true;
    default:
      return false;
  }
}

/// Operands that a canonical node may still carry although only their attribute form is folded.
bool needs_attribute_only(OpKind kind) {
  return kind != OpKind::clip && kind != OpKind::gather && kind != OpKind::gather_elements &&
         !op_info(kind).operand_attrs.empty();
}

/// The last use of each operation lets go of its value, so that memory stays near that of the largest step.
class Folder {
 public:
  explicit Folder(const Tables& tables) : tables_(tables) {}

  HostTensor fold(WeightId root) {
    const std::vector<WeightId> order = fold_order(tables_, root, uses_);
    for (const WeightId id : order) values_.emplace(id, compute(id));
    return std::move(values_.at(root));
  }

 private:
  const WeightExpr& expr(WeightId id) const { return tables_.weights()[id]; }

  HostTensor compute(WeightId id) {
    const WeightExpr& held = expr(id);
    if (held.form != WeightExpr::Form::operation)
      return HostTensor::from_bytes(tables_.type(held.type), held.bytes);
    std::vector<const HostTensor*> inputs;
    for (const WeightId arg : held.args) inputs.push_back(arg == WeightId::none ? nullptr : &values_.at(arg));
    const AttrBlock& attrs = tables_.attrs(held.attrs);
    HostTensor result = held.kind == OpKind::split
                            ? evaluate_split_part(attrs, *inputs.at(0), held.output)
                            : std::move(evaluate_op(held.kind, attrs, inputs).at(held.output));
    for (const WeightId arg : held.args)
      if (arg != WeightId::none && --uses_[arg] == 0) values_.erase(arg);
    return result;
  }

  const Tables& tables_;
  UseCounts uses_;
  std::unordered_map<WeightId, HostTensor> values_;
};

}  // namespace

bool can_evaluate(const Tables& tables, OpKind kind, std::span<const TypeId> inputs) {
  if (!op_info(kind).is(kFoldable) || inputs.empty()) return false;
  for (const TypeId id : inputs) {
    const TensorType& type = tables.type(id);
    if (!type.is_static() || !is_plain(type.dtype)) return false;
    // Stored as their bits, which only moving leaves alone.
    if (type.dtype == DType::uint64 && !op_info(kind).is(kMovement)) return false;
  }
  return !takes_reals_only(kind) || is_float(tables.type(inputs[0]).dtype);
}

std::vector<HostTensor> evaluate_op(OpKind kind, const AttrBlock& attrs, Inputs inputs) {
  const OpInfo& op = op_info(kind);
  if (!op.is(kFoldable)) refuse(kind, "is not folded");
  if (inputs.size() < op.min_inputs || !inputs[0]) refuse(kind, "has too few operands");
  if (needs_attribute_only(kind) &&
      std::any_of(inputs.begin() + 1, inputs.end(), [](auto* input) { return input; }))
    refuse(kind, "has operands that should be attributes");
  std::vector<HostTensor> results;
  switch (kind) {
    case OpKind::matmul:
      results.push_back(evaluate_matmul(inputs));
      break;
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
      results.push_back(evaluate_reduce(kind, attrs, inputs));
      break;
    case OpKind::pad:
      results.push_back(evaluate_pad(attrs, inputs));
      break;
    case OpKind::constant_of_shape:
      results.push_back(constant_of_shape(attrs, *inputs[0]));
      break;
    case OpKind::split:
      for (std::size_t part = 0; part < attrs.ints(Attr::split).size(); ++part)
        results.push_back(evaluate_split_part(attrs, *inputs[0], part));
      break;
    default:
      results.push_back(op.is(kMovement) ? evaluate_movement(kind, attrs, inputs)
                                         : evaluate_elementwise(kind, attrs, inputs));
  }
  return results;
}

HostTensor evaluate(const Tables& tables, WeightId weight) {
  return Folder(tables).fold(weight);
}

}
