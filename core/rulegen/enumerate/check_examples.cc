#include "core/rulegen/enumerate/check_examples.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/order.h"
#include "core/rulegen/enumerate/make_instance.h"
#include "core/rulegen/enumerate/prime_field.h"
#include "core/rules/examples/make_example.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::rulegen {
namespace {

constexpr int kRepeatedDims = 4;
constexpr std::size_t kRepeatedAttempts = 200;
constexpr std::size_t kDerivationInstances = 3;
constexpr std::size_t kDerivationStates = 4000;

std::map<std::int32_t, HostTensor> random_inputs(const graph::Graph& graph, Rng& rng) {
  std::map<std::int32_t, HostTensor> out;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind != graph::OpKind::input) continue;
    const auto& dims = graph.type({id, 0}).dims;
    out[graph.node(id).origin] = field_random(std::span(dims.begin(), dims.end()), rng);
  }
  return out;
}

bool equal(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const HostTensor& x, const HostTensor& y) {
    return x.dims == y.dims && x.integer == y.integer;
  });
}

// What the pattern itself allows, whatever the terms that it comes from were made of.
bool pattern_instance(const rules::CompiledRule& rule, graph::GraphBuilder& builder, Rng& rng) {
  rules::RandomChoices choices(rng);
  return rules::make_example(rule, builder, choices, {.dims = {1, 2, 3}, .constants_vary = false});
}

bool has_elementwise(const Term& term, const std::vector<Form>& forms) {
  return std::ranges::any_of(term.nodes, [&](const TermNode& node) {
    return forms[node.form].kind == graph::OpKind::add || forms[node.form].kind == graph::OpKind::mul;
  });
}

// The instance's first match, applied to a copy.
std::optional<graph::Graph> applied(const rules::RuleSet& rules, const graph::Graph& graph) {
  const rules::MatchIndex index(rules, graph);
  const auto matches = index.matches(0);
  if (matches.empty()) return std::nullopt;
  graph::Graph rewritten = graph;
  rules::apply(rewritten, rules, matches.front());
  return rewritten;
}

}  // namespace

ExampleVerdict check_examples(const rules::RuleSet& rules, const TermRule& rule,
                              const std::vector<Form>& forms, const CheckOptions& options) {
  ExampleVerdict verdict;
  const auto differ = [&](graph::GraphBuilder& builder, Rng& rng, std::uint64_t seed) {
    const auto rewritten = applied(rules, builder.graph());
    if (!rewritten) return false;
    const auto inputs = random_inputs(builder.graph(), rng);
    ++verdict.compared;
    if (equal(field_run(builder.graph(), inputs), field_run(*rewritten, inputs))) return false;
    verdict.counterexample = describe(builder.graph()) + " (seed " + std::to_string(seed) + ")";
    return true;
  };
  for (std::size_t i = 0; i < options.attempts && verdict.compared < options.wanted; ++i) {
    const std::uint64_t seed = options.seed * 1000003 + i;
    graph::GraphBuilder builder(seed);
    Rng rng(seed, "rule-instances");
    const InstanceOptions how{.own_attributes = i % 2 == 0, .broadcast = options.broadcast};
    if (options.broadcast && i % 4 == 3) {
      if (!pattern_instance(rules.compiled(0), builder, rng)) continue;
    } else if (!make_instance(rule.left, rule.ranks, forms, how, builder, rng)) {
      continue;
    }
    if (differ(builder, rng, seed)) return verdict;
  }
  if (!options.broadcast || !has_elementwise(rule.left, forms)) return verdict;
  // What is wrong where operands are repeated along one dim: each dim by itself, whatever the seed.
  for (int dim = 0; dim < kRepeatedDims; ++dim) {
    const std::size_t enough = verdict.compared + std::max<std::size_t>(options.wanted / 4, 8);
    for (std::size_t i = 0; i < kRepeatedAttempts && verdict.compared < enough; ++i) {
      const std::uint64_t seed =
          (options.seed * 1000003 + i) * kRepeatedDims + static_cast<std::uint64_t>(dim);
      graph::GraphBuilder builder(seed);
      Rng rng(seed, "repeated-operands");
      const InstanceOptions how{.own_attributes = i % 2 == 0, .repeated = dim};
      if (make_instance(rule.left, rule.ranks, forms, how, builder, rng) && differ(builder, rng, seed))
        return verdict;
    }
  }
  return verdict;
}

namespace {

// None, one, and two of them.
std::vector<std::vector<std::string>> guard_sets(const std::vector<std::string>& candidates) {
  std::vector<std::vector<std::string>> sets = {{}};
  for (const std::string& one : candidates) sets.push_back({one});
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j) sets.push_back({candidates[i], candidates[j]});
  return sets;
}

}  // namespace

CheckedRule find_sound_text(const std::string& name, const TermRule& rule, const std::vector<Form>& forms,
                            const std::vector<TextOptions>& texts, const CheckOptions& options) {
  CheckedRule out;
  for (const TextOptions& text : texts) {
    bool contradicted = true;  // guards are of use only where examples contradict
    for (const auto& guards : guard_sets(guard_candidates(rule, forms, text.any_axis))) {
      if (!contradicted) break;
      TextOptions with = text;
      with.guards.insert(with.guards.end(), guards.begin(), guards.end());
      try {
        const std::string line = rule_text(name, rule, forms, with);
        const rules::RuleSet set = rules::RuleSet::parse(line + "\n", name);
        CheckOptions equal_shapes = options;
        equal_shapes.broadcast = false;
        const ExampleVerdict plain = check_examples(set, rule, forms, equal_shapes);
        if (out.counterexample.empty()) out.counterexample = plain.counterexample;
        if (guards.empty()) contradicted = !plain.counterexample.empty();
        if (!plain.sound() || plain.compared < std::min<std::size_t>(options.wanted, 8)) continue;
        const ExampleVerdict broadcast = check_examples(set, rule, forms, options);
        if (guards.empty()) contradicted = !broadcast.counterexample.empty();
        if (!broadcast.sound()) continue;
        out.text = line;
        out.compared = plain.compared + broadcast.compared;
        out.guards = guards;
        return out;
      } catch (const Error& e) {
        if (out.problem.empty()) out.problem = e.problem();
        break;
      }
    }
  }
  if (out.problem.empty() && out.counterexample.empty()) out.problem = "no instance of it could be made";
  return out;
}

namespace {

struct State {
  graph::Graph graph;
  std::vector<std::string> names;
};

// A hash of what the outputs are made of, whatever the order of operands that may be swapped.
Hash128 structure_of(const graph::Graph& graph) {
  std::map<graph::NodeId, Hash128> nodes;
  const auto value = [&](graph::Value v) {
    Hasher hasher(v.output);
    hasher.add(nodes.at(v.node));
    return hasher.finish();
  };
  for (graph::NodeId id : graph::topological_order(graph)) {
    const graph::Node& node = graph.node(id);
    Hasher hasher(static_cast<std::uint64_t>(node.kind));
    hasher.add(graph::index(node.attrs));
    if (node.kind == graph::OpKind::input) hasher.add(static_cast<std::uint64_t>(node.origin));
    if (node.kind == graph::OpKind::weight) hasher.add(graph.tables().weights()[node.weight].hash);
    std::vector<Hash128> inputs;
    for (graph::Value v : node.inputs) inputs.push_back(v.present() ? value(v) : Hash128{});
    if (graph::op_info(node.kind).is(graph::kCommutative)) std::sort(inputs.begin(), inputs.end());
    for (const Hash128& input : inputs) hasher.add(input);
    nodes[id] = hasher.finish();
  }
  Hasher hasher(graph.outputs().size());
  for (graph::Value v : graph.outputs()) hasher.add(value(v));
  return hasher.finish();
}

// The graph with the operands of its commutative ops in each order: a rule is tried at nodes in one way only.
std::vector<graph::Graph> commutations(const graph::Graph& graph) {
  std::vector<graph::Graph> out = {graph};
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || !graph::op_info(graph.node(id).kind).is(graph::kCommutative)) continue;
    const graph::Value a = graph.node(id).inputs[0], b = graph.node(id).inputs[1];
    for (std::size_t i = 0, count = out.size(); i < count && a != b; ++i) {
      graph::Graph swapped = out[i];
      swapped.set_input(id, 0, b);
      swapped.set_input(id, 1, a);
      out.push_back(std::move(swapped));
    }
  }
  return out;
}

// Breadth-first over graphs that rules of the set lead to.
std::optional<std::vector<std::string>> derive(const rules::RuleSet& set, const graph::Graph& from,
                                               const Hash128& to, std::size_t steps) {
  std::vector<State> level = {{from, {}}};
  std::set<Hash128> seen = {structure_of(from)};
  for (std::size_t depth = 0; depth < steps; ++depth) {
    std::vector<State> next;
    for (const State& state : level) {
      for (const graph::Graph& from_here : commutations(state.graph)) {
        const rules::MatchIndex index(set, from_here);
        for (std::uint32_t r = 0; r < set.size(); ++r) {
          for (const rules::Match& match : index.matches(r)) {
            State reached{from_here, state.names};
            rules::apply(reached.graph, set, match);
            reached.names.push_back(set.info(r).name);
            const Hash128 hash = structure_of(reached.graph);
            if (hash == to) return reached.names;
            if (seen.size() < kDerivationStates && seen.insert(hash).second)
              next.push_back(std::move(reached));
          }
        }
      }
    }
    level = std::move(next);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> find_derivation(const rules::RuleSet& set,
                                                        const rules::RuleSet& rules, const TermRule& rule,
                                                        const std::vector<Form>& forms, std::size_t steps,
                                                        bool constant_weights, std::uint64_t seed) {
  std::optional<std::vector<std::string>> found;
  std::size_t instances = 0;
  for (std::uint64_t i = 0; i < 4000 && instances < kDerivationInstances; ++i) {
    graph::GraphBuilder builder(seed + i);
    Rng rng(seed + i, "derivations");
    const InstanceOptions how{
        .own_attributes = i % 2 == 0, .broadcast = false, .constant_weights = constant_weights};
    if (!make_instance(rule.left, rule.ranks, forms, how, builder, rng)) continue;
    const auto target = applied(rules, builder.graph());
    if (!target) continue;
    ++instances;
    found = derive(set, builder.graph(), structure_of(*target), steps);
    if (!found) return std::nullopt;
  }
  return found;
}

}
