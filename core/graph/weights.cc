#include "core/graph/weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/graph/evaluate.h"
#include "core/graph/tables.h"

namespace regraft::graph {
namespace {

/// By the type itself: its number depends on what was interned before, and the canonical order on this hash.
Hash128 content_key(const Tables& tables, TypeId type, std::span<const std::byte> bytes) {
  Hasher hasher(1);
  hasher.add(tables.type_hash(type));
  hasher.add(hash_bytes(bytes));
  return hasher.finish();
}

}  // namespace

void WeightTable::shrink(std::size_t least) {
  least = std::max(least, tables_.held().weights);
  while (exprs_.size() > least) {
    by_key_.erase(exprs_.back().hash);
    if (exprs_.back().form == WeightExpr::Form::literal) owned_.pop_back();
    exprs_.pop_back();
  }
}

WeightId WeightTable::add(WeightExpr expr, const Hash128& key) {
  const WeightId id{static_cast<std::uint32_t>(exprs_.size())};
  expr.hash = key;
  exprs_.push_back(std::move(expr));
  by_key_.emplace(key, id);
  return id;
}

WeightId WeightTable::source(TypeId type, std::span<const std::byte> bytes, std::int32_t source_index) {
  const Hash128 key = content_key(tables_, type, bytes);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  WeightExpr expr;
  expr.form = WeightExpr::Form::source;
  expr.type = type;
  expr.bytes = bytes;
  expr.source = source_index;
  return add(std::move(expr), key);
}

WeightId WeightTable::literal(TypeId type, std::span<const std::byte> bytes) {
  const Hash128 key = content_key(tables_, type, bytes);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  WeightExpr expr;
  expr.form = WeightExpr::Form::literal;
  expr.type = type;
  expr.bytes = owned_.emplace_back(bytes.begin(), bytes.end());
  return add(std::move(expr), key);
}

WeightId WeightTable::scalar(DType dtype, double value) {
  Hasher hasher(static_cast<std::uint64_t>(dtype));
  hasher.add(std::bit_cast<std::uint64_t>(value));
  const Hash128 key = hasher.finish();
  const std::vector<std::byte>* bytes = scalar_bytes_.find(key);
  if (!bytes) {
    HostTensor tensor;
    tensor.dtype = dtype;
    if (is_float(dtype))
      tensor.real = {value};
    else
      tensor.integer = {static_cast<std::int64_t>(value)};
    bytes = &scalar_bytes_.add(key, tensor.to_bytes());
  }
  return literal(tables_.intern(dtype, {}), *bytes);
}

WeightId WeightTable::integers(std::span<const std::int64_t> values) {
  const Dim count = static_cast<Dim>(values.size());
  return literal(tables_.intern(DType::int64, std::span(&count, 1)), std::as_bytes(values));
}

WeightId WeightTable::operation(OpKind kind, AttrId attrs, std::span<const WeightId> args,
                                std::uint32_t output) {
  Hasher hasher(2);
  hasher.add(static_cast<std::uint64_t>(kind));
  hasher.add(tables_.attrs_hash(attrs));
  hasher.add(output);
  for (const WeightId arg : args) hasher.add(arg == WeightId::none ? Hash128{} : exprs_[index(arg)].hash);
  const Hash128 key = hasher.finish();
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;

  InlineVector<Operand, 4> operands;
  for (const WeightId arg : args) {
    const bool present = arg != WeightId::none;
    operands.push_back({present ? exprs_[index(arg)].type : tables_.type_none(), arg, present});
  }
  const TypeList types = infer_types(tables_, kind, tables_.attrs(attrs), operands);
  if (output >= types.size())
    throw GraphError("has no output " + std::to_string(output), std::string(op_info(kind).name), "");
  WeightExpr expr;
  expr.form = WeightExpr::Form::operation;
  expr.type = types[output];
  expr.kind = kind;
  expr.attrs = attrs;
  expr.output = output;
  expr.args = InlineVector<WeightId, 3>(args);
  return add(std::move(expr), key);
}

std::optional<std::span<const std::int64_t>> WeightTable::integer_values(WeightId id,
                                                                         std::size_t limit) const {
  const TensorType& type = tables_.type(exprs_[index(id)].type);
  const auto count = type.element_count();
  const bool fits = count && static_cast<std::size_t>(*count) <= limit;
  if (!fits || !(is_integer(type.dtype) || type.dtype == DType::boolean)) return std::nullopt;
  const Hash128& hash = exprs_[index(id)].hash;
  const auto* known = integer_values_.find(hash);
  return known ? *known : integer_values_.add(hash, evaluate(tables_, id).integer);
}

std::optional<double> WeightTable::scalar_value(WeightId id, std::size_t limit) const {
  const TensorType& type = tables_.type(exprs_[index(id)].type);
  const auto count = type.element_count();
  if (!count || *count < 1 || static_cast<std::size_t>(*count) > limit) return std::nullopt;
  if (dtype_bytes(type.dtype) == 0 || type.dtype == DType::complex64 || type.dtype == DType::complex128)
    return std::nullopt;
  const Hash128& hash = exprs_[index(id)].hash;
  if (const auto* known = scalar_values_.find(hash)) return *known;
  const HostTensor tensor = evaluate(tables_, id);
  const auto at = [&](std::size_t i) {
    return is_float(tensor.dtype) ? tensor.real[i] : static_cast<double>(tensor.integer[i]);
  };
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // beyond, a double may be another number
  const bool exact =
      std::ranges::all_of(tensor.integer, [](std::int64_t v) { return -kExact <= v && v <= kExact; });
  std::optional<double> value = exact ? std::optional(at(0)) : std::nullopt;
  for (std::size_t i = 1; i < tensor.size() && value; ++i)
    if (at(i) != *value) value.reset();
  return scalar_values_.add(hash, value);
}

}  // namespace regraft::graph
