#include "launch/optimise/rewrite_groups.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/env/rewrite_state.h"
#include "core/rules/rewrite/rewriter.h"
#include "launch/optimise/blame.h"

namespace regraft::launch {
namespace {

using graph::NodeId;

/// Connected components of the rewrites of a path, by what stands on what another made (union-find).
struct Components {
  std::vector<std::size_t> root;   // of each rewrite: one nearer to the root of its component
  std::vector<std::string> label;  // of each rewrite: rule, and type of the first value that it replaces

  std::size_t find(std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    root[std::max(a, b)] = std::min(a, b);
  }
};

Components components_of(graph::Graph graph, const rules::RuleSet& rules,
                         std::span<const rules::Match> path) {
  Components found;
  found.root.resize(path.size());
  std::iota(found.root.begin(), found.root.end(), std::size_t{0});
  std::unordered_map<NodeId, std::size_t> made_by;
  rules::Rewriter rewriter(graph, rules);
  for (std::size_t i = 0; i < path.size(); ++i) {
    for (const NodeId node : path[i].nodes)
      if (const auto maker = made_by.find(node); maker != made_by.end()) found.join(i, maker->second);
    const graph::Node& first = graph.node(path[i].nodes.front());
    const std::string type = first.outputs.empty() ? "" : std::to_string(static_cast<int>(first.outputs[0]));
    found.label.push_back(std::to_string(path[i].rule) + ":" + type);
    const NodeId next = graph.id_bound();
    rewriter.apply(path[i]);
    for (NodeId id = next; id < graph.id_bound(); ++id)
      if (graph.node(id).kind != graph::OpKind::weight) made_by[id] = i;
  }
  return found;
}

/// Components that are alike are one group.
std::vector<RewriteGroup> alike(const ModelGraphs& start, const rules::RuleSet& rules, const Paths& paths) {
  std::map<std::vector<std::string>, RewriteGroup> groups;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    Components found = components_of(start[at], rules, paths[at]);
    std::map<std::size_t, std::vector<std::size_t>> components;
    for (std::size_t i = 0; i < paths[at].size(); ++i) components[found.find(i)].push_back(i);
    for (const auto& [root, members] : components) {
      std::vector<std::string> labels;
      for (const std::size_t i : members) labels.push_back(found.label[i]);
      std::ranges::sort(labels);
      for (const std::size_t i : members) groups[labels].rewrites.insert({at, i});
    }
  }
  std::vector<RewriteGroup> list;
  for (auto& [labels, group] : groups) list.push_back(std::move(group));
  return list;
}

std::vector<RewriteGroup> by_rule(const Paths& paths) {
  std::map<std::uint32_t, RewriteGroup> groups;
  for (std::size_t at = 0; at < paths.size(); ++at)
    for (std::size_t i = 0; i < paths[at].size(); ++i) groups[paths[at][i].rule].rewrites.insert({at, i});
  std::vector<RewriteGroup> list;
  for (auto& [rule, group] : groups) list.push_back(std::move(group));
  return list;
}

void join(RewriteGroup& group, RewriteGroup other) {
  group.rewrites.merge(other.rewrites);
  for (const auto& [rule, count] : other.rules) group.rules[rule] += count;
  group.saved_us += other.saved_us;
}

}  // namespace

bool rewrites(const Paths& paths) {
  return std::ranges::any_of(paths, [](const auto& path) { return !path.empty(); });
}

ModelGraphs graphs_after(const ModelGraphs& start, const rules::RuleSet& rules, const Paths& paths) {
  ModelGraphs graphs = start;
  for (std::size_t at = 0; at < paths.size(); ++at) graphs[at] = env::replay(start[at], rules, paths[at]);
  return graphs;
}

std::vector<RewriteGroup> rewrite_groups(const ModelGraphs& start, const rules::RuleSet& rules,
                                         const Paths& paths, std::span<const double> saved_us,
                                         std::size_t most) {
  std::vector<std::size_t> first(paths.size(), 0);  // place of a path among all rewrites
  for (std::size_t at = 1; at < paths.size(); ++at) first[at] = first[at - 1] + paths[at - 1].size();
  const auto weighed = [&](std::vector<RewriteGroup> groups) {
    std::erase_if(groups,
                  [&](const RewriteGroup& group) { return group.rewrites.size() == saved_us.size(); });
    for (RewriteGroup& group : groups) {
      for (const auto& [at, i] : group.rewrites) {
        ++group.rules[rules.info(paths[at][i].rule).name];
        group.saved_us += saved_us[first[at] + i];
      }
    }
    std::ranges::stable_sort(groups, std::greater<>(), &RewriteGroup::saved_us);
    return groups;
  };
  std::vector<RewriteGroup> groups = weighed(alike(start, rules, paths));
  while (groups.size() > most && groups.size() > 1) {
    RewriteGroup least = std::move(groups.back());
    groups.pop_back();
    join(groups.back(), std::move(least));
  }
  for (RewriteGroup& group : weighed(by_rule(paths)))
    if (groups.size() < most &&
        std::ranges::find(groups, group.rewrites, &RewriteGroup::rewrites) == groups.end())
      groups.push_back(std::move(group));
  if (groups.size() > most) groups.clear();  // one, where none is affordable
  return groups;
}

Paths paths_without(const ModelGraphs& start, const rules::RuleSet& rules, const Paths& paths,
                    const std::set<std::pair<std::size_t, std::size_t>>& left_out) {
  std::vector<std::set<std::size_t>> places(paths.size());
  for (const auto& [at, i] : left_out) places[at].insert(i);
  Paths rest = paths;
  for (std::size_t at = 0; at < paths.size(); ++at)
    if (!places[at].empty()) rest[at] = path_without(start[at], rules, paths[at], places[at]);
  return rest;
}

}
