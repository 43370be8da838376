#include "core/rules/rewrite.h"

#include <algorithm>

#include "core/rules/build.h"
#include "core/rules/congruence.h"
#include "core/rules/domain.h"
#include "core/rules/locate.h"

namespace regraft::rules {
namespace {

using graph::NodeId;
using graph::Value;

[[noreturn]] void refuse(const RuleSet& rules, const Match& match, const std::string& why) {
  const std::string node = match.nodes.empty() ? "no node" : "node " + std::to_string(match.nodes[0]);
  throw RuleError("rule '" + rules.info(match.rule).name + "' cannot be applied: " + why, node, "");
}

struct Change {
  Value before;
  Tensor* after;
};

}  // namespace

Rewrite apply(graph::Graph& graph, const RuleSet& rules, const Match& match) {
  if (match.rule >= rules.size())
    throw RuleError("there is no rule " + std::to_string(match.rule), "match", "");
  const CompiledRule& rule = rules.compiled(match.rule);
  auto bindings = locate(rule, graph, match.nodes);
  if (!bindings) refuse(rules, match, "its pattern is not there");
  if (!has_known_ranks(graph, *bindings)) refuse(rules, match, "a rank is unknown");
  if (const std::string why = outside_of_claim(rule, graph, *bindings); !why.empty())
    refuse(rules, match, why);
  if (makes_cycle(rule, graph, *bindings)) refuse(rules, match, "it would make a cycle");
  const graph::Graph::Mark mark = graph.mark();
  std::vector<NodeId> added;
  std::string problem;
  Rewrite rewrite{match, {}, {}};
  try {
    Builder builder(rule, graph, *bindings, added);
    problem = builder.run();
    std::vector<Change> changes;
    bool changed = false;
    if (problem.empty()) {
      for_each_replacement(rule, *bindings, [&](Tensor& before, Tensor& after) {
        if (!after.present() || before.type != after.type) {
          problem = "the replacement has another type";
          return;
        }
        builder.materialise(after);
        changed = changed || after.value != before.value;
        changes.push_back({before.value, &after});
      });
      if (problem.empty() && !changed) problem = "the graph already has this form";
    }
    if (problem.empty()) {
      for (const Change& change : changes) {
        if (graph.use_count(change.before) > 0) {
          rewrite.before.push_back(change.before);
          rewrite.after.push_back(change.after->value);
        }
      }
      for (const Change& change : changes) graph.replace_uses(change.before, change.after->value);
      added.insert(added.end(), match.nodes.begin(), match.nodes.end());
      graph.remove_dead(added);
      merge_equal_users(graph, rewrite.after);
    }
  } catch (const graph::GraphError& e) {
    problem = e.what();
  }
  if (!problem.empty()) {
    graph.undo_to(mark);
    refuse(rules, match, problem);
  }
  return rewrite;
}

}  // namespace regraft::rules
