#include "core/exec/site_sizes.h"

#include <cstdlib>
#include <iterator>
#include <limits>
#include <variant>

#include "core/graph/dim_formula.h"

namespace regraft::exec {

using graph::Graph;
using graph::NodeId;
using graph::Value;

namespace {

constexpr std::size_t kMostTelling = 8;

}  // namespace

std::vector<graph::SymbolId> open_symbols(const Graph& graph, const Site& site,
                                          const graph::Bindings& bindings, bool formulas) {
  std::set<graph::SymbolId> symbols;
  for (const Value& leaf : site.leaves) {
    for (const graph::Dim dim : graph.type(leaf).dims) {
      if (!graph::is_symbol(dim) || bindings.find(graph::dim_symbol(dim))) continue;
      const graph::SymbolId symbol = graph::dim_symbol(dim);
      if (formulas || !graph::is_formula(graph.tables().symbol_name(symbol))) symbols.insert(symbol);
    }
  }
  return {symbols.begin(), symbols.end()};
}

std::pair<std::set<graph::SymbolId>, std::int64_t> given_symbols(const Graph& graph, const Site& site,
                                                                 const graph::Bindings& bindings) {
  std::set<graph::SymbolId> symbols;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Value& leaf : site.leaves) {
    for (const graph::Dim dim : graph.type(leaf).dims) {
      const auto size = graph::is_symbol(dim) ? bindings.find(graph::dim_symbol(dim)) : std::nullopt;
      if (!size) continue;
      symbols.insert(graph::dim_symbol(dim));
      smallest = std::min(smallest, *size);
    }
  }
  return {symbols, smallest};
}

std::set<std::int64_t> telling_sizes(const Graph& graph, const Site& site, std::int64_t below) {
  std::set<std::int64_t> sizes{1, 2, 3};
  const auto add = [&](std::int64_t value) {
    if (value <= -below || value >= below + 1) return;
    for (const std::int64_t step : {-1, 0, 1}) sizes.insert(std::abs(value) + step);
  };
  for (const NodeId id : site.left) {
    for (const auto& [attr, value] : graph.attrs(id).entries()) {
      if (const auto* integer = std::get_if<std::int64_t>(&value)) add(*integer);
      if (const auto* list = std::get_if<graph::Ints>(&value))
        for (const std::int64_t element : *list) add(element);
    }
  }
  sizes.erase(sizes.begin(), sizes.lower_bound(1));
  sizes.erase(sizes.lower_bound(below), sizes.end());
  while (sizes.size() > kMostTelling) sizes.erase(std::prev(sizes.end()));
  return sizes;
}

std::vector<std::int64_t> likely_sizes(const Graph& graph, const Site& site) {
  constexpr std::int64_t kLarge = 64, kMostElements = 512;
  std::set<std::int64_t> sizes{1, 2, 3, 4, 6, 8};
  const auto add = [&](const graph::TensorType& type) {
    std::int64_t elements = 1;  // what a Reshape to these dims takes from a single one
    for (const graph::Dim dim : type.dims) {
      if (dim > 0 && dim <= kLarge) sizes.insert(dim);
      const bool few = dim > 0 && dim <= kMostElements && elements <= kMostElements;
      elements = few ? elements * dim : kMostElements + 1;
    }
    if (elements <= kMostElements) sizes.insert(elements);
  };
  for (const Value& leaf : site.leaves) add(graph.type(leaf));
  for (const NodeId id : site.left) {
    for (const graph::TypeId type : graph.node(id).outputs) add(graph.tables().type(type));
    for (const Value& input : graph.node(id).inputs)
      if (input.present()) add(graph.type(input));
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace regraft::exec
