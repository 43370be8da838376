#include "core/graph/constants.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/evaluate.h"

namespace regraft::graph {

namespace {

void check_indices(const Tables& tables, OpKind kind, AttrId attrs, std::span<const WeightId> args) {
  const auto axis = static_cast<std::size_t>(tables.attrs(attrs).integer(Attr::axis));
  const std::int64_t size = tables.type(tables.weights()[args[0]].type).dims[axis];
  const HostTensor indices = evaluate(tables, args[1]);
  if (!std::ranges::all_of(indices.integer, [size](std::int64_t i) { return -size <= i && i < size; }))
    throw GraphError("has an index that is out of range", std::string(op_info(kind).name), "");
}

void check_values(const Tables& tables, OpKind kind, AttrId attrs, std::span<const WeightId> args,
                  TypeId result) {
  if (kind == OpKind::gather || kind == OpKind::gather_elements)
    return check_indices(tables, kind, attrs, args);
  const bool may_refuse = kind == OpKind::pow || kind == OpKind::div || kind == OpKind::cast;
  if (!may_refuse || !is_integer(tables.type(result).dtype)) return;
  std::vector<HostTensor> values;
  for (const WeightId arg : args) values.push_back(evaluate(tables, arg));
  std::vector<const HostTensor*> inputs;
  for (const HostTensor& value : values) inputs.push_back(&value);
  evaluate_op(kind, tables.attrs(attrs), inputs);
}

/// Operands that may be swapped stand in the order of their hashes, so that a + b is b + a.
InlineVector<WeightId, 3> in_order(const WeightTable& weights, OpKind kind, std::span<const WeightId> args) {
  InlineVector<WeightId, 3> ordered(args);
  const OpInfo& op = op_info(kind);
  if (args.size() == 2 && op.is(kCommutative) && !op.is(kVariadic) &&
      std::ranges::count(args, WeightId::none) == 0 && weights[args[1]].hash < weights[args[0]].hash)
    std::swap(ordered[0], ordered[1]);
  return ordered;
}

}  // namespace

WeightId constant_operation(Tables& tables, OpKind kind, AttrId attrs, std::span<const WeightId> given,
                            std::uint32_t output) {
  const auto args = in_order(tables.weights(), kind, given);
  const auto type_of = [&] {
    InlineVector<Operand, 4> operands;
    for (const WeightId arg : args) {
      const bool present = arg != WeightId::none;
      operands.push_back({present ? tables.weights()[arg].type : tables.type_none(), arg, present});
    }
    const TypeList types = infer_types(tables, kind, tables.attrs(attrs), operands);
    if (output >= types.size())
      throw GraphError("has no output " + std::to_string(output), std::string(op_info(kind).name), "");
    check_values(tables, kind, attrs, args, types[output]);
    return types[output];
  };
  return tables.weights().operation(kind, attrs, args, output, std::ref(type_of));  // nothing on the heap
}

std::optional<std::span<const std::int64_t>> integer_values(const Tables& tables, WeightId id,
                                                            std::size_t limit) {
  const TensorType& type = tables.type(tables.weights()[id].type);
  const auto count = type.element_count();
  const bool fits = count && static_cast<std::size_t>(*count) <= limit;
  if (!fits || !(is_integer(type.dtype) || type.dtype == DType::boolean)) return std::nullopt;
  const Hash128& hash = tables.weights()[id].hash;
  auto& values = tables.weights().known_values().integers;
  const auto* known = values.find(hash);
  return known ? *known : values.add(hash, evaluate(tables, id).integer);
}

std::optional<double> scalar_value(const Tables& tables, WeightId id, std::size_t limit) {
  const TensorType& type = tables.type(tables.weights()[id].type);
  const auto count = type.element_count();
  if (!count || *count < 1 || static_cast<std::size_t>(*count) > limit) return std::nullopt;
  if (dtype_bytes(type.dtype) == 0 || type.dtype == DType::complex64 || type.dtype == DType::complex128)
    return std::nullopt;
  const Hash128& hash = tables.weights()[id].hash;
  auto& values = tables.weights().known_values().scalars;
  if (const auto* known = values.find(hash)) return *known;
  const HostTensor tensor = evaluate(tables, id);
  const auto at = [&](std::size_t i) {
    return is_float(tensor.dtype) ? tensor.real[i] : static_cast<double>(tensor.integer[i]);
  };
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // beyond, a double may be another number
  const bool exact =
      std::ranges::all_of(tensor.integer, [](std::int64_t v) { return -kExact <= v && v <= kExact; });
  std::optional<double> value = exact ? std::optional(at(0)) : std::nullopt;
  for (std::size_t i = 1; i < tensor.size() && value; ++i)
    if (at(i) != *value) value.reset();
  return values.add(hash, value);
}

}
