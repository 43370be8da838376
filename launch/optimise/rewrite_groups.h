#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/rules/set/rule_set.h"
#include "launch/graphs/model_graphs.h"

namespace regraft::launch {

/// The rewrites of each graph of a model.
using Paths = std::vector<std::vector<rules::Match>>;
/// Whether there are any.
bool rewrites(const Paths& paths);
/// The graphs to which they lead.
ModelGraphs graphs_after(const ModelGraphs& start, const rules::RuleSet& rules, const Paths& paths);

/// Rewrites that stand or fall together.
struct RewriteGroup {
  std::set<std::pair<std::size_t, std::size_t>> rewrites;  // graph, place in its path
  std::map<std::string, int> rules;                        // how many of them are by which rule
  double saved_us = 0;                                     // predicted, of one run of the model
};

/// Groups of rewrites that can be left out. What stands on what another rewrite made is of its group; groups
/// that are alike, by the same rules on tensors of the same types, are one. Of more than `most` of these,
/// those that save least are joined. As long as there are fewer, the rewrites of each rule are groups, too. A
/// group of all rewrites is none. `saved_us`: of each rewrite, counted over all paths.
std::vector<RewriteGroup> rewrite_groups(const ModelGraphs& start, const rules::RuleSet& rules,
                                         const Paths& paths, std::span<const double> saved_us,
                                         std::size_t most);

/// The paths without the rewrites of a group, and without what stands on them.
Paths paths_without(const ModelGraphs& start, const rules::RuleSet& rules, const Paths& paths,
                    const std::set<std::pair<std::size_t, std::size_t>>& left_out);

}
