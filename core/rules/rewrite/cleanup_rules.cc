#include "core/rules/rewrite/cleanup_rules.h"

#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/match/local_match.h"
#include "core/rules/match/match_programs.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::rules {

struct CleanupRules::State {
  graph::Graph& graph;
  const RuleSet& rules;
  MatchPrograms programs;
  Rewriter rewriter;
  LegalMemo memo;
  std::vector<std::unique_ptr<Matcher>> matchers;  // by rule; null where it is of another family
  std::vector<LocalMatch> found;

  State(graph::Graph& g, const RuleSet& r)
      : graph(g), rules(r), programs(r), rewriter(g, r), matchers(r.size()) {
    for (std::uint32_t number = 0; number < rules.size(); ++number) {
      const CompiledRule& rule = rules.compiled(number);
      if (rules.info(number).family == kCleanUpFamily && !rule.is_siblings())
        matchers[number] = std::make_unique<Matcher>(rule, graph);
    }
  }

  bool leaves_fewer(const Match& match) {
    const graph::Graph::Mark mark = graph.mark();
    const std::size_t before = graph.operation_count();
    try {
      rewriter.apply(match);
    } catch (const RuleError&) {  // it would make a cycle
      return false;
    }
    if (graph.operation_count() < before) return true;
    graph.undo_to(mark);
    return false;
  }
};

CleanupRules::CleanupRules(graph::Graph& graph, const RuleSet& rules)
    : state_(std::make_unique<State>(graph, rules)) {}
CleanupRules::~CleanupRules() = default;

std::optional<std::string_view> CleanupRules::apply(graph::NodeId anchor) {
  State& state = *state_;
  for (const std::uint32_t number : state.programs.at(state.graph, anchor)) {
    if (!state.matchers[number]) continue;
    state.found.clear();
    append_local_matches(state.rules.compiled(number), number, state.graph, *state.matchers[number],
                         state.memo, anchor, state.found);
    for (const LocalMatch& local : state.found)
      if (state.leaves_fewer(local.match)) return state.rules.info(number).name;
  }
  return std::nullopt;
}

}
