#pragma once

#include <map>
#include <optional>

#include "core/base/rng.h"
#include "core/graph/graph.h"

namespace regraft::proof {

using Sizes = std::map<graph::SymbolId, std::int64_t>;

/// A graph some of whose dims are symbols, and the sizes that they stood for.
struct SymbolicGraph {
  graph::Graph graph;
  Sizes sizes;
};

/// The graph with symbols in place of some sizes of its inputs' dims, equal sizes by one symbol. Nothing
/// where no dim became a symbol or its operations do not take that.
std::optional<SymbolicGraph> with_symbols(const graph::Graph& graph, Rng& rng);

/// The graph with sizes in place of symbols, of the same tables. Nothing where its operations do not fit
/// those sizes.
std::optional<graph::Graph> with_sizes(const graph::Graph& graph, const Sizes& sizes);

/// Whether no dim is 0.
bool has_elements(const graph::Graph& graph);

}
