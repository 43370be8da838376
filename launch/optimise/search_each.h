#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/cost/several_sizes_factory.h"
#include "core/search/search.h"
#include "launch/graphs/model_graphs.h"

namespace regraft::launch {

/// Searches each graph that runs and in which a rule matches; the others keep an empty path. Limits of time
/// and expansions are shared out in proportion to the graphs' costs in one run of the model. What one search
/// leaves goes to graphs that cost more. `costs` has one factory a graph.
std::vector<search::SearchResult> search_each(
    const ModelGraphs& graphs, const std::vector<double>& runs, const rules::RuleSet& rules,
    std::span<const cost::SeveralSizesFactory> costs, const search::SearchLimits& limits,
    const std::function<search::SearchResult(std::size_t at, const search::SearchLimits&)>& search);

}
