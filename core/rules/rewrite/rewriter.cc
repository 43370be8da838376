#include "core/rules/rewrite/rewriter.h"

#include <algorithm>
#include <utility>

#include "core/rules/instantiate/builder.h"
#include "core/rules/instantiate/legal.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/bindings_finder.h"
#include "core/rules/rewrite/merge_equal_users.h"

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

struct Rewriter::State {
  graph::Graph& graph;
  const RuleSet& rules;
  std::vector<std::unique_ptr<BindingsFinder>> finders;  // by rule, made when first needed
  OperationMemo memo;
  std::uint64_t generation = 0;  // of the tables, as `memo` knows them
  Reachability reachability;
  Rewrite rewrite;
  std::vector<NodeId> added;
  std::vector<Change> changes;

  State(graph::Graph& g, const RuleSet& r) : graph(g), rules(r), finders(r.size()) {}

  void forget_where_void();
  Bindings& locate(const Match& match);
  std::string build(const CompiledRule& rule, Bindings& bindings);
  void replace(const Match& match);
};

void Rewriter::State::forget_where_void() {
  const std::uint64_t now = graph.tables().generation();
  if (std::exchange(generation, now) != now) memo.clear();
}

// The bindings of a match that may be carried out.
Bindings& Rewriter::State::locate(const Match& match) {
  if (match.rule >= rules.size())
    throw RuleError("there is no rule " + std::to_string(match.rule), "match", "");
  const CompiledRule& rule = rules.compiled(match.rule);
  auto& finder = finders[match.rule];
  if (!finder) finder = std::make_unique<BindingsFinder>(rule, graph);
  Bindings* bindings = finder->find(match.nodes);
  if (!bindings) refuse(rules, match, "its pattern is not there");
  if (!has_known_ranks(graph, *bindings)) refuse(rules, match, "a rank is unknown");
  if (const auto why = outside_of_claim(rule, graph, *bindings); !why.empty())
    refuse(rules, match, std::string(why));
  if (makes_cycle(rule, graph, *bindings, reachability)) refuse(rules, match, "it would make a cycle");
  return *bindings;
}

// Makes the right side and lists what it replaces. Empty, or why it cannot be.
std::string Rewriter::State::build(const CompiledRule& rule, Bindings& bindings) {
  added.clear();
  changes.clear();
  Builder builder(rule, graph, bindings, memo, added);
  if (const auto problem = builder.run(); !problem.empty()) return std::string(problem);
  bool same_types = true, changed = false;
  for_each_replacement(rule, bindings, [&](Tensor& before, Tensor& after) {
    same_types = same_types && after.present() && before.type == after.type;
    if (!same_types) return;
    builder.materialise(after);
    changed = changed || after.value != before.value;
    changes.push_back({before.value, &after});
  });
  if (!same_types) return "the replacement has another type";
  return changed ? "" : "the graph already has this form";
}

void Rewriter::State::replace(const Match& match) {
  std::erase_if(changes, [&](const Change& change) { return graph.use_count(change.before) == 0; });
  for (const Change& change : changes) graph.replace_uses(change.before, change.after->value);
  added.insert(added.end(), match.nodes.begin(), match.nodes.end());
  graph.remove_dead(added);
  for (const Change& change : changes) {
    if (!graph.alive(change.after->value.node)) continue;  // matched nodes alone read it
    rewrite.before.push_back(change.before);
    rewrite.after.push_back(change.after->value);
  }
  merge_equal_users(graph, rewrite.after);
}

Rewriter::Rewriter(graph::Graph& graph, const RuleSet& rules)
    : state_(std::make_unique<State>(graph, rules)) {}
Rewriter::~Rewriter() = default;
Rewriter::Rewriter(Rewriter&&) noexcept = default;
Rewriter& Rewriter::operator=(Rewriter&&) noexcept = default;

const Rewrite& Rewriter::apply(const Match& match) {
  State& state = *state_;
  state.forget_where_void();
  Bindings& bindings = state.locate(match);
  state.rewrite.match = match;
  state.rewrite.before.clear();
  state.rewrite.after.clear();
  const graph::Graph::Mark mark = state.graph.mark();
  std::string problem;
  try {
    problem = state.build(state.rules.compiled(match.rule), bindings);
    if (problem.empty()) state.replace(match);
  } catch (const graph::GraphError& e) {
    problem = e.what();
  } catch (const RuleError&) {
    state.graph.undo_to(mark);
    throw;
  }
  if (problem.empty()) return state.rewrite;
  state.graph.undo_to(mark);
  refuse(state.rules, match, problem);
}

Rewrite apply(graph::Graph& graph, const RuleSet& rules, const Match& match) {
  return Rewriter(graph, rules).apply(match);
}

}
