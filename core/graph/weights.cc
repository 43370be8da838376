#include "core/graph/weights.h"

#include <bit>

#include "core/graph/host_tensor.h"

namespace regraft::graph {
namespace {

/// By the type itself: its number depends on what was interned before, and the canonical order on this hash.
Hash128 content_key(const Interner& names, TypeId type, std::span<const std::byte> bytes) {
  Hasher hasher(1);
  hasher.add(names.type_hash(type));
  hasher.add(hash_bytes(bytes));
  return hasher.finish();
}

}  // namespace

WeightTable::WeightTable(const WeightTable& other, Interner& names)
    : names_(names),
      exprs_(other.exprs_, &pool_),
      owned_(other.owned_, &pool_),
      by_key_(other.by_key_, &pool_) {
  auto owned = owned_.begin();
  for (WeightExpr& expr : exprs_)
    if (expr.form == WeightExpr::Form::literal) expr.bytes = *owned++;
}

void WeightTable::shrink(std::size_t least) {
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
  const Hash128 key = content_key(names_, type, bytes);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  WeightExpr expr;
  expr.form = WeightExpr::Form::source;
  expr.type = type;
  expr.bytes = bytes;
  expr.source = source_index;
  return add(std::move(expr), key);
}

WeightId WeightTable::literal(TypeId type, std::span<const std::byte> bytes) {
  const Hash128 key = content_key(names_, type, bytes);
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
  return literal(names_.intern(dtype, {}), *bytes);
}

WeightId WeightTable::integers(std::span<const std::int64_t> values) {
  const Dim count = static_cast<Dim>(values.size());
  return literal(names_.intern(DType::int64, std::span(&count, 1)), std::as_bytes(values));
}

WeightId WeightTable::operation(OpKind kind, AttrId attrs, std::span<const WeightId> args,
                                std::uint32_t output, const std::function<TypeId()>& type_of) {
  Hasher hasher(2);
  hasher.add(static_cast<std::uint64_t>(kind));
  hasher.add(names_.attrs_hash(attrs));
  hasher.add(output);
  for (const WeightId arg : args) hasher.add(arg == WeightId::none ? Hash128{} : exprs_[index(arg)].hash);
  const Hash128 key = hasher.finish();
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;

  WeightExpr expr;
  expr.form = WeightExpr::Form::operation;
  expr.type = type_of();
  expr.kind = kind;
  expr.attrs = attrs;
  expr.output = output;
  expr.args = InlineVector<WeightId, 3>(args);
  return add(std::move(expr), key);
}

}
