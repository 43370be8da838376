#include "launch/optimise/blame.h"

#include <optional>
#include <unordered_map>

#include "core/rules/lang/rule_error.h"

namespace regraft::launch {
namespace {

using graph::NodeId;

/// The operations that a graph got from `first` on, in order.
std::vector<NodeId> operations_from(const graph::Graph& graph, NodeId first) {
  std::vector<NodeId> made;
  for (NodeId id = first; id < graph.id_bound(); ++id)
    if (graph.node(id).kind != graph::OpKind::weight) made.push_back(id);
  return made;
}

/// Applies the match and gives the operations that it made; nothing where it is not there.
std::optional<std::vector<NodeId>> made_by(const rules::Match& match, rules::Rewriter& rewriter,
                                           const graph::Graph& graph) {
  const NodeId first = graph.id_bound();
  try {
    rewriter.apply(match);
  } catch (const rules::RuleError&) {
    return std::nullopt;
  }
  return operations_from(graph, first);
}

}  // namespace

std::vector<rules::Match> path_without(const graph::Graph& start, const rules::RuleSet& rules,
                                       std::span<const rules::Match> path,
                                       const std::set<std::size_t>& left_out) {
  graph::Graph was = start, is = start;
  rules::Rewriter before(was, rules), after(is, rules);
  std::unordered_map<NodeId, NodeId> now;  // by id on the old path, of what rewrites made
  std::vector<rules::Match> rest;
  for (std::size_t i = 0; i < path.size(); ++i) {
    rules::Match match = path[i];
    bool there = !left_out.contains(i);
    for (NodeId& node : match.nodes) {
      const auto moved = now.find(node);
      there = there && (node < start.id_bound() || moved != now.end());
      if (moved != now.end()) node = moved->second;
    }
    const std::vector<NodeId> old_nodes = made_by(path[i], before, was).value();
    const auto new_nodes = there ? made_by(match, after, is) : std::nullopt;
    if (!new_nodes) continue;
    rest.push_back(match);
    if (new_nodes->size() != old_nodes.size()) continue;  // shared with others: what stands on it is left out
    for (std::size_t k = 0; k < old_nodes.size(); ++k) now[old_nodes[k]] = (*new_nodes)[k];
  }
  return rest;
}

std::set<std::size_t> rewrites_to_leave(std::span<const rules::Match> path, std::size_t culprit,
                                        Without without) {
  std::set<std::size_t> left_out{culprit};
  for (std::size_t i = 0; without != Without::rewrite && i < path.size(); ++i)
    if (path[i].rule == path[culprit].rule) left_out.insert(i);
  return left_out;
}

std::size_t cleaned(const rules::RewriteLog& log) {
  return log.entries.size() - log.rule_count();
}

std::string entry_name(const rules::RewriteLog& log, const std::optional<Bisection>& entries) {
  if (!entries) return "no single rewrite";
  const std::size_t entry = entries->good;
  if (!entries->culprit())
    return "one of entries " + std::to_string(entry) + " to " + std::to_string(entries->bad - 1);
  const std::string& name = log.entries[entry].name;
  if (entry < cleaned(log)) return name + " (step " + std::to_string(entry) + ")";
  return "rule " + name + " (rewrite " + std::to_string(entry - cleaned(log)) + ")";
}

Without Blame::after(const std::string& rule) {
  if (++total_ > most_) return Without::everything;
  switch (++times_[rule]) {
    case 1:
      return Without::rewrite;
    case 2:
      return Without::rewrites_of_rule;
    case 3:
      return Without::rule;
    default:
      return Without::everything;
  }
}

}
