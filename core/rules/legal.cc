#include <algorithm>
#include <vector>

#include "core/rules/build.h"

namespace regraft::rules {

using graph::NodeId;

std::vector<NodeId> read_nodes(const CompiledRule& rule, Bindings& bindings) {
  std::vector<NodeId> nodes;
  const auto add = [&](const Tensor& t) {
    if (t.present() && t.value.present() && !t.constant()) nodes.push_back(t.value.node);
  };
  for (Slot slot : rule.reads) {
    const std::size_t count = slot.domain < 0 ? 1 : bindings.count(slot.domain);
    for (std::size_t member = 0; member < count; ++member) add(bindings.tensor(slot, member));
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool makes_cycle(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  if (rule.always_acyclic) return false;
  const std::vector<NodeId> reads = read_nodes(rule, bindings);
  std::vector<bool> seen(graph.id_bound(), false);
  std::vector<NodeId> pending;
  const auto enter = [&](NodeId user) {
    if (user == graph::kGraphOutput || seen[user]) return;
    seen[user] = true;
    pending.push_back(user);
  };
  for_each_replacement(rule, bindings, [&](const Tensor& before, const Tensor&) {
    for (const graph::Use& use : graph.uses(before.value.node)) {
      if (use.user != graph::kGraphOutput && graph.node(use.user).inputs[use.slot] == before.value)
        enter(use.user);
    }
  });
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (std::binary_search(reads.begin(), reads.end(), id)) return true;
    for (const graph::Use& use : graph.uses(id)) enter(use.user);
  }
  return false;
}

std::string check_types(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  try {
    if (std::string problem = Builder(rule, graph, bindings).run(); !problem.empty()) return problem;
  } catch (const graph::GraphError& e) {
    return e.what();
  }
  std::string problem;
  bool changes = false;
  for_each_replacement(rule, bindings, [&](const Tensor& before, const Tensor& after) {
    if (!after.present() || before.type != after.type) problem = "the replacement has another type";
    changes = changes || !(after.value == before.value);
  });
  if (problem.empty() && !changes) problem = "the graph already has this form";
  return problem;
}

}  // namespace regraft::rules
