#include "core/exec/site/site_sizes.h"

#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include "core/graph/constants.h"
#include "core/graph/dim_formula.h"
#include "core/graph/types.h"

namespace regraft::exec {

using graph::Graph;
using graph::NodeId;
using graph::Value;

namespace {

constexpr std::size_t kMostSmaller = 8, kMostIntegers = 64;

/// The elements of the short integer constants that a node takes.
std::vector<std::int64_t> constant_operands(const Graph& graph, NodeId id) {
  std::vector<std::int64_t> all;
  for (const Value& input : graph.node(id).inputs) {
    if (!input.present() || graph.weight_of(input) == graph::WeightId::none) continue;
    const auto integers = graph::integer_values(graph.tables(), graph.weight_of(input), kMostIntegers);
    if (integers) all.insert(all.end(), integers->begin(), integers->end());
  }
  return all;
}

/// The symbols that dims of the leaves are, and those in formulas among them.
std::set<graph::SymbolId> symbols_of(const Graph& graph, const Site& site) {
  std::set<graph::SymbolId> symbols;
  const auto note = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto symbol = graph.tables().find_symbol(name);
    if (symbol) symbols.insert(*symbol);
    return symbol ? std::optional<std::int64_t>(1) : std::nullopt;
  };
  for (const Value& leaf : site.leaves) {
    for (const graph::Dim dim : graph.type(leaf).dims) {
      if (!graph::is_symbol(dim)) continue;
      symbols.insert(graph::dim_symbol(dim));
      const std::string& name = graph.tables().symbol_name(graph::dim_symbol(dim));
      try {
        if (graph::is_formula(name)) graph::evaluate_formula(name, note);
      } catch (const graph::GraphError&) {  // a division by zero: what it is made of is noted by then
      }
    }
  }
  return symbols;
}

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

std::vector<graph::SymbolId> free_symbols(const Graph& graph, const Site& site) {
  std::set<graph::SymbolId> free;
  for (const graph::SymbolId symbol : symbols_of(graph, site))
    if (!graph::is_formula(graph.tables().symbol_name(symbol))) free.insert(symbol);
  return {free.begin(), free.end()};
}

std::map<graph::SymbolId, std::int64_t> given_sizes(const Graph& graph, const Site& site,
                                                    const graph::Bindings& bindings) {
  std::map<graph::SymbolId, std::int64_t> given;
  for (const graph::SymbolId symbol : symbols_of(graph, site))
    if (const std::optional<std::int64_t> size = bindings.find(symbol)) given.emplace(symbol, *size);
  return given;
}

std::set<std::int64_t> smaller_sizes(const Graph& graph, const Site& site, std::int64_t below) {
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
    for (const std::int64_t value : constant_operands(graph, id)) add(value);
  }
  sizes.erase(sizes.begin(), sizes.lower_bound(1));
  sizes.erase(sizes.lower_bound(below), sizes.end());
  while (sizes.size() > kMostSmaller) sizes.erase(std::prev(sizes.end()));
  return sizes;
}

LikelySizes likely_sizes(const Graph& graph, const Site& site) {
  constexpr std::int64_t kLarge = 64, kMostElements = 512;
  std::set<std::int64_t> sizes{1, 2, 3, 4, 6, 8}, fixed, totals;
  const auto elements_of = [](const graph::TensorType& type) {  // by the dims that are known
    std::int64_t elements = 1;
    for (const graph::Dim dim : type.dims)
      if (!graph::is_symbol(dim) && elements <= kMostElements) elements *= std::min(dim, kMostElements + 1);
    return elements;
  };
  const auto add = [&](const graph::TensorType& type) {
    for (const graph::Dim dim : type.dims)
      if (dim > 0 && dim <= kLarge) fixed.insert(dim);
    if (type.is_static() && elements_of(type) <= kMostElements) totals.insert(elements_of(type));
  };
  for (const Value& leaf : site.leaves) add(graph.type(leaf));
  for (const NodeId id : site.left) {
    for (const graph::TypeId type : graph.node(id).outputs) add(graph.tables().type(type));
    for (const Value& input : graph.node(id).inputs)
      if (input.present()) add(graph.type(input));
    std::int64_t most = 0;  // what is looked up by these, or sliced up to them, is no smaller
    for (const std::int64_t value : constant_operands(graph, id))
      if (-kMostElements < value && value < kMostElements)
        most = std::max(most, value < 0 ? -value : value + 1);
    if (most > 0) sizes.insert(most);
  }
  // What a Reshape to known dims takes from a tensor of which one dim is open.
  for (const Value& leaf : site.leaves) {
    const std::int64_t known = elements_of(graph.type(leaf));
    for (const std::int64_t total : totals)
      if (known > 0 && total % known == 0) sizes.insert(total / known);
  }
  sizes.insert(fixed.begin(), fixed.end());
  sizes.insert(totals.begin(), totals.end());
  sizes.erase(0);
  if (fixed.empty()) fixed = sizes;
  return {{sizes.begin(), sizes.end()}, {fixed.begin(), fixed.end()}};
}

}
