#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/rules/instantiate/bindings.h"
#include "core/rules/instantiate/evaluate.h"
#include "core/rules/instantiate/passes.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/rewriter.h"
#include "support/validate.h"

namespace regraft::rules::testing {

/// Finds matches by trying every graph node for every node of a pattern, in every order of commutative
/// operands and every division of operands into lists: slow and obvious. What is bound is copied for each
/// try. Of siblings, the pairs.
class ReferenceMatcher {
  using Nodes = std::vector<graph::NodeId>;

 public:
  ReferenceMatcher(const RuleSet& rules, std::uint32_t number, const graph::Graph& graph)
      : rules_(rules), number_(number), rule_(rules.compiled(number)), graph_(graph) {
    for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
      if (graph.alive(id)) all_.push_back(id);
    }
  }

  /// The nodes of every legal match; of siblings, of every pair in either order.
  const std::set<Nodes>& run() {
    Bindings bindings(rule_);
    std::vector<bool> sized(rule_.member_sets.size(), rule_.is_siblings());
    if (rule_.is_siblings()) set_size(bindings, rule_.sibling_member_set, 2);
    place(0, 0, 0, bindings, sized);
    return found_;
  }

  /// For siblings: pairs that bind the plain names alike, legal or not.
  const std::set<Nodes>& alike() const { return alike_; }

  /// Legality by doing it: the rewrite succeeds and leaves a valid graph.
  bool applies(const Nodes& nodes) const {
    graph::Graph copy = graph_;
    Match match;
    match.rule = number_;
    match.nodes = InlineVector<graph::NodeId, 8>(std::span<const graph::NodeId>(nodes));
    try {
      apply(copy, rules_, match);
    } catch (const RuleError&) {
      return false;
    }
    graph::validate(copy);
    return true;
  }

 private:
  struct Chosen {
    graph::NodeId id;
    std::int16_t member_set;
    std::size_t member;
  };

  // The node of step `number`, of one member; of siblings, `round` 0 takes the first and the plain nodes, 1
  // the second.
  void place(std::size_t round, std::size_t number, std::size_t member, const Bindings& bindings,
             const std::vector<bool>& sized) {
    if (number == rule_.steps.size()) {
      if (rule_.is_siblings() && round == 0) return place(1, 0, 0, bindings, sized);
      return finish(bindings);
    }
    const Step& step = rule_.steps[number];
    const PatternNode& pattern = rule_.nodes[step.node];
    const bool again = round == 1 && pattern.member_set < 0;
    const std::size_t members =
        pattern.member_set < 0 || rule_.is_siblings() ? 1 : bindings.count(pattern.member_set);
    if (again || member == members) return place(round, number + 1, 0, bindings, sized);
    for (const graph::NodeId id : all_) {
      if (!pattern.kinds.test(static_cast<std::size_t>(graph_.node(id).kind)) || !is_other(step, round, id))
        continue;
      chosen_.push_back({id, pattern.member_set, round});
      for (const bool swap : {false, true}) {
        unify(pattern, rule_.is_siblings() && pattern.member_set >= 0 ? round : member, id, swap, bindings,
              sized, [&](const Bindings& bound, const std::vector<bool>& sizes) {
                place(round, number, member + 1, bound, sizes);
              });
      }
      chosen_.pop_back();
    }
  }

  // Nodes that are reached from what they use are other nodes than those before; so are the roots of two
  // members.
  bool is_other(const Step& step, std::size_t round, graph::NodeId id) const {
    const bool must = step.via == Step::Via::consumer || (step.via == Step::Via::anchor && round == 1);
    return !must || std::none_of(chosen_.begin(), chosen_.end(), [&](const Chosen& c) { return c.id == id; });
  }

  void finish(Bindings bindings) {
    for (const Step& step : rule_.steps) {
      for (const Check& check : step.checks) {
        if (!passes(check, graph_, bindings)) return;
      }
    }
    for (const Code& code : rule_.same) {
      const Quantity a = evaluate(code, {graph_, bindings, rule_.sibling_member_set, 0});
      const Quantity b = evaluate(code, {graph_, bindings, rule_.sibling_member_set, 1});
      if (!a.known() || !a.equals(b)) return;
    }
    const Nodes nodes = named();
    if (rule_.is_siblings()) alike_.insert(nodes);
    const bool whole = std::all_of(rule_.set_checks.begin(), rule_.set_checks.end(),
                                   [&](const Check& check) { return passes(check, graph_, bindings); });
    if (whole && !found_.contains(nodes) && applies(nodes)) found_.insert(nodes);
  }

  // Calls `then` for every way in which the node can be this one of the pattern.
  template <typename Then>
  void unify(const PatternNode& pattern, std::size_t member, graph::NodeId id, bool swap, Bindings bindings,
             std::vector<bool> sized, const Then& then) {
    const graph::Node& node = graph_.node(id);
    std::vector<graph::Value> inputs(node.inputs.begin(), node.inputs.end());
    if (swap && (!pattern.commutative || inputs.size() != 2)) return;
    if (swap) std::swap(inputs[0], inputs[1]);
    std::vector<graph::Value> outputs;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) outputs.push_back({id, i});
    if (pattern.op) {
      OpBinding& held = bindings.frame(pattern.op->member_set, member).ops[pattern.op->index];
      const OpBinding now{node.kind, node.attrs};
      if (held.kind != graph::OpKind::opaque && !(held == now)) return;
      held = now;
    }
    if (!attributes_fit(pattern, member, graph_.attrs(id), bindings)) return;
    divide(pattern.outputs, 0, outputs, 0, member, bindings, sized,
           [&](const Bindings& b, const std::vector<bool>& s) {
             divide(pattern.operands, 0, inputs, 0, member, b, s, then);
           });
  }

  // Every division of the values from `next` on among what is written from `at` on.
  template <typename Then>
  void divide(const std::vector<OperandPattern>& written, std::size_t at,
              const std::vector<graph::Value>& values, std::size_t next, std::size_t member,
              const Bindings& bindings, const std::vector<bool>& sized, const Then& then) {
    if (at == written.size()) {
      if (next == values.size()) then(bindings, sized);
      return;
    }
    const Slot slot = written[at].slot;
    if (!written[at].sequence) {
      const graph::Value value = next < values.size() ? values[next] : graph::Value{};
      Bindings bound = bindings;
      if (!value.present() && !written[at].optional) return;
      if (same_or_bind(bound.tensor(slot, member), Tensor::of(graph_, value)))
        divide(written, at + 1, values, std::min(next + 1, values.size()), member, bound, sized, then);
      return;
    }
    const auto member_set = static_cast<std::size_t>(slot.member_set);
    for (std::size_t count = 0; next + count <= values.size(); ++count) {
      if (sized[member_set] && bindings.count(slot.member_set) != count) continue;
      Bindings bound = bindings;
      std::vector<bool> sizes = sized;
      set_size(bound, slot.member_set, count);
      sizes[member_set] = true;
      bool fits = true;
      for (std::size_t i = 0; i < count && fits; ++i)
        fits = same_or_bind(bound.tensor(slot, i), Tensor::of(graph_, values[next + i]));
      if (fits) divide(written, at + 1, values, next + count, member, bound, sizes, then);
    }
  }

  void set_size(Bindings& bindings, std::int16_t member_set, std::size_t count) const {
    const auto d = static_cast<std::size_t>(member_set);
    while (bindings.members[d].size() < count) bindings.members[d].extend(rule_.frames[d + 1]);
  }

  static bool same_or_bind(Tensor& held, const Tensor& now) {
    if (held.bound()) return held == now;
    held = now;
    return true;
  }

  static bool attributes_fit(const PatternNode& pattern, std::size_t member, const graph::AttrBlock& attrs,
                             Bindings& bindings) {
    for (graph::Attr attr : pattern.absent) {
      if (attrs.has(attr)) return false;
    }
    for (const auto& [attr, value] : pattern.required) {
      if (!attrs.has(attr) || *attrs.find(attr) != value) return false;
    }
    for (const auto& [attr, slot] : pattern.attrs) {
      if (!attrs.has(attr)) return false;
      Quantity& held = bindings.quantity(slot, member);
      const Quantity now = Quantity::of(*attrs.find(attr));
      if (held.known() && !held.equals(now)) return false;
      held = now;
    }
    return true;
  }

  // As a match names them: of siblings each one's own, then the plain ones.
  Nodes named() const {
    Nodes nodes;
    for (const std::size_t round : {0, 1}) {
      for (const Chosen& c : chosen_) {
        if (!rule_.is_siblings() ? round == 0 : c.member_set >= 0 && c.member == round) nodes.push_back(c.id);
      }
    }
    for (const Chosen& c : chosen_) {
      if (rule_.is_siblings() && c.member_set < 0) nodes.push_back(c.id);
    }
    return nodes;
  }

  const RuleSet& rules_;
  std::uint32_t number_;
  const CompiledRule& rule_;
  const graph::Graph& graph_;
  Nodes all_;
  std::vector<Chosen> chosen_;
  std::set<Nodes> found_, alike_;
};

/// How a set of siblings names its nodes: so many of each member, then the plain ones.
struct SetLayout {
  std::size_t own = 0, plain = 0;

  explicit SetLayout(const CompiledRule& rule) {
    for (const Step& step : rule.steps) ++(rule.nodes[step.node].member_set >= 0 ? own : plain);
  }
  std::size_t members(std::size_t nodes) const { return (nodes - plain) / own; }
  /// Two members of a set, as a pair.
  std::vector<graph::NodeId> pair(std::span<const graph::NodeId> set, std::size_t i, std::size_t j) const {
    std::vector<graph::NodeId> out;
    for (const std::size_t member : {i, j}) {
      const auto part = set.subspan(member * own, own);
      out.insert(out.end(), part.begin(), part.end());
    }
    const auto rest = set.last(plain);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }
};

/// Sets of three siblings and more that were found: any two of their members are alike, and the rewrite can
/// be done.
inline void expect_larger_sets(const RuleSet& rules, std::uint32_t number, const ReferenceMatcher& reference,
                               std::span<const Match> matches) {
  const SetLayout layout(rules.compiled(number));
  for (const Match& match : matches) {
    const std::span<const graph::NodeId> nodes(match.nodes.begin(), match.nodes.end());
    const std::size_t members = layout.members(nodes.size());
    if (members < 3) continue;
    for (std::size_t i = 0; i < members; ++i) {
      for (std::size_t j = 0; j < members; ++j) {
        if (i == j) continue;
        EXPECT_TRUE(reference.alike().contains(layout.pair(nodes, i, j))) << rules.info(number).text;
      }
    }
    EXPECT_TRUE(reference.applies({nodes.begin(), nodes.end()})) << rules.info(number).text;
  }
}

/// Where applying a rule makes no cycle: of three siblings or more that are all alike, the set of all is
/// found, where it can be done in the order of their nodes or as it was found.
inline void expect_whole_sets(const RuleSet& rules, std::uint32_t number, const ReferenceMatcher& reference,
                              std::span<const Match> matches) {
  const CompiledRule& rule = rules.compiled(number);
  if (!rule.always_acyclic || !rule.order.empty()) return;
  const SetLayout layout(rule);
  const auto sorted = [](std::vector<graph::NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  std::set<std::vector<graph::NodeId>> found;
  for (const Match& match : matches) found.insert(sorted({match.nodes.begin(), match.nodes.end()}));
  for (const auto& first : reference.alike()) {
    std::vector<graph::NodeId> whole = first;
    std::size_t members = 2;
    bool all_alike = true;
    for (const auto& other : reference.alike()) {
      const bool begins =
          std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(layout.own), other.begin());
      const bool plain = std::equal(first.end() - static_cast<std::ptrdiff_t>(layout.plain), first.end(),
                                    other.end() - static_cast<std::ptrdiff_t>(layout.plain));
      if (!begins || !plain || other == first) continue;
      const auto second = std::span(other).subspan(layout.own, layout.own);
      for (std::size_t i = 1; i < members; ++i) {
        std::vector<graph::NodeId> both(whole.begin() + static_cast<std::ptrdiff_t>(i * layout.own),
                                        whole.begin() + static_cast<std::ptrdiff_t>((i + 1) * layout.own));
        both.insert(both.end(), second.begin(), second.end());
        both.insert(both.end(), first.end() - static_cast<std::ptrdiff_t>(layout.plain), first.end());
        all_alike = all_alike && reference.alike().contains(both);
      }
      whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(members++ * layout.own), second.begin(),
                   second.end());
    }
    if (members < 3 || !all_alike || found.contains(sorted(whole))) continue;
    EXPECT_FALSE(reference.applies(whole)) << "a set is missing: " << rules.info(number).text;
  }
}

/// Compares matches that were found with those of the reference: all of them; of siblings, that every pair
/// among them is one, where members share an activation that no pair is missing, and what is said of larger
/// sets. Returns the number of the reference's matches.
inline std::size_t expect_reference_matches(const RuleSet& rules, std::uint32_t number,
                                            const graph::Graph& graph, std::span<const Match> matches) {
  const CompiledRule& rule = rules.compiled(number);
  std::set<std::vector<graph::NodeId>> found, found_sets, wanted_sets;
  const auto sorted = [](std::vector<graph::NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  for (const Match& match : matches) {
    if (!rule.is_siblings() || SetLayout(rule).members(match.nodes.size()) == 2)
      found.insert({match.nodes.begin(), match.nodes.end()});
  }
  ReferenceMatcher reference(rules, number, graph);
  const auto& wanted = reference.run();
  for (const auto& nodes : found) EXPECT_TRUE(wanted.contains(nodes)) << rules.info(number).text;
  if (!rule.is_siblings()) {
    EXPECT_EQ(found.size(), wanted.size()) << rules.info(number).text;
    return wanted.size();
  }
  if (rule.members_share_activation) {  // each pair is listed in one of its two orders
    for (const auto& nodes : found) found_sets.insert(sorted(nodes));
    for (const auto& nodes : wanted) wanted_sets.insert(sorted(nodes));
    EXPECT_EQ(found_sets, wanted_sets) << rules.info(number).text;
  }
  expect_larger_sets(rules, number, reference, matches);
  expect_whole_sets(rules, number, reference, matches);
  return wanted.size();
}

}
