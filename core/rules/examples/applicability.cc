#include "core/rules/examples/applicability.h"

#include "core/rules/examples/make_example.h"
#include "core/rules/instantiate/builder.h"
#include "core/rules/instantiate/legal.h"
#include "core/rules/match/match_index.h"
#include "core/rules/match/matcher.h"

namespace regraft::rules {
namespace {

/// Why the first place where the pattern of a rule without siblings lies, and its guards hold, is no match;
/// empty: there is none.
std::string refusal(const CompiledRule& rule, const graph::Graph& graph) {
  std::string why;
  if (rule.is_siblings()) return why;
  Matcher matcher(rule, graph);
  OperationMemo memo;
  for (graph::NodeId id = 0; id < graph.id_bound() && why.empty(); ++id) {
    if (!graph.alive(id)) continue;
    matcher.run(id, {}, [&](Bindings& bindings, std::span<const graph::NodeId>) {
      why = check_types(rule, graph, matcher.scratch(bindings), memo);
      if (why.empty()) why = "it would make a cycle";  // what else keeps it from being a match
      return true;
    });
  }
  return why;
}

}  // namespace

std::string Applicability::why_not() const {
  if (applies) return "";
  if (graphs == 0)
    return "could not make an example: none of " + std::to_string(examples) +
           " draws of its pattern is a graph";
  if (!refused.empty())
    return "where its guards held it was no match in any of " + std::to_string(graphs) +
           " graphs: " + refused;
  return (siblings ? "its siblings were found in none of " : "its guards held in none of ") +
         std::to_string(graphs) + " graphs of its pattern";
}

std::string Applicability::remedy() const {
  if (applies) return "";
  if (graphs == 0) return "look at the dims and attributes that its operations have together";
  if (!refused.empty()) return "look at its right side: it must give what has the type of what it replaces";
  return "look for guards that contradict each other, or the operations that they are about";
}

Applicability try_rule(const RuleInfo& info, std::size_t most) {
  const RuleSet rules = RuleSet::alone(info);
  const CompiledRule& compiled = rules.compiled(0);
  Applicability found;
  found.siblings = compiled.is_siblings();
  const ExampleLimits limits = {.fitting = true, .numbers = RuleNumbers::of(compiled)};
  for (; found.examples < most && !found.applies; ++found.examples) {
    Rng rng(found.examples, "trial");
    RandomChoices choices(rng);
    graph::GraphBuilder builder(found.examples);
    if (!make_example(compiled, builder, choices, limits)) continue;
    ++found.graphs;
    const MatchIndex index(rules, builder.graph());
    found.applies = !index.matches(0).empty();
    if (!found.applies && found.refused.empty()) found.refused = refusal(compiled, builder.graph());
  }
  return found;
}

}
