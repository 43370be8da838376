#include "core/graph/tables.h"

#include <algorithm>

#include "core/graph/dim_formula.h"

namespace regraft::graph {

void Bindings::bind(SymbolId symbol, std::int64_t value) {
  values_[symbol] = value;
}

Bindings Bindings::in(const Interner& names) const {
  Bindings bindings = *this;
  bindings.names_ = &names;
  return bindings;
}

std::optional<std::int64_t> Bindings::find(SymbolId symbol) const {
  const auto found = values_.find(symbol);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Bindings::resolve(Dim dim, std::optional<std::int64_t> unbound) const {
  if (!is_symbol(dim)) return dim;
  if (const auto bound = find(dim_symbol(dim))) return bound;
  if (!names_) return unbound;
  const std::string& name = names_->symbol_name(dim_symbol(dim));
  if (!is_formula(name)) return unbound;
  try {
    return evaluate_formula(name, [&](std::string_view part) -> std::optional<std::int64_t> {
      const auto symbol = names_->find_symbol(part);
      return symbol ? resolve(symbol_dim(*symbol), unbound) : std::nullopt;
    });
  } catch (const GraphError&) {
    return std::nullopt;
  }
}

bool Bindings::know_all(const TensorType& type) const {
  return type.ranked && std::ranges::all_of(type.dims, [&](Dim dim) { return known(dim).has_value(); });
}

std::int64_t Bindings::element_count(const TensorType& type) const {
  std::int64_t count = 1;
  for (const Dim dim : type.dims) count *= value(dim);
  return count;
}

TablesBound Tables::bound() const {
  TablesBound bound = names_bound();
  bound.weights = weights_.size();
  return bound;
}

TablesBound Tables::held() const {
  TablesBound held{1, 1, 0, 0, 0};  // type_none() and no attributes
  holds_.cover(held);
  return held;
}

// Weights first: their types and attributes are names.
void Tables::shrink(TablesBound least) {
  least.cover(held());
  const TablesBound before = bound();
  weights_.shrink(least.weights);
  shrink_names(least);
  if (bound() != before) ++generation_;
}

void Tables::shrink_weights(std::size_t least) {
  weights_.shrink(std::max(least, held().weights));
}

Hash128 Tables::opaque_hash(std::int32_t origin) const {
  const auto found = opaque_hashes_.find(origin);
  if (found != opaque_hashes_.end()) return found->second;
  Hasher unknown(7);  // two opaque nodes that nobody described are never equal
  unknown.add(static_cast<std::uint64_t>(origin));
  return unknown.finish();
}

}
