#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/rules/bindings.h"
#include "core/rules/rewrite.h"

namespace regraft::rules::testing {

/// Finds matches by trying every assignment of graph nodes to the nodes of a pattern, in every order of
/// commutative operands: slow and obvious. For rules without lists of operands; of siblings, the pairs.
class ReferenceMatcher {
 public:
  ReferenceMatcher(const RuleSet& rules, std::uint32_t number, const graph::Graph& graph)
      : rules_(rules), number_(number), rule_(rules.compiled(number)), graph_(graph) {
    for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
      if (graph.alive(id)) all_.push_back(id);
    }
  }

  /// The nodes of every legal match; of siblings, of every pair in either order.
  std::set<std::vector<graph::NodeId>> run() {
    found_.clear();
    if (rule_.is_siblings()) {
      // The steps of one member and the plain nodes, then the member's steps once more.
      for (int member = 0; member < 2; ++member) {
        for (const Step& step : rule_.steps) {
          if (member == 0 || rule_.nodes[step.node].domain >= 0) places_.push_back({step.node, member});
        }
      }
    } else {
      for (const Step& step : rule_.steps) places_.push_back({step.node, 0});
    }
    chosen_.clear();
    assign();
    return found_;
  }

 private:
  struct Place {
    std::uint16_t node;
    int member;
  };

  void assign() {
    if (chosen_.size() == places_.size()) {
      if (fits()) found_.insert(named());
      return;
    }
    for (graph::NodeId id : all_) {
      const PatternNode& pattern = rule_.nodes[places_[chosen_.size()].node];
      if (!pattern.kinds.test(static_cast<std::size_t>(graph_.node(id).kind))) continue;
      chosen_.push_back(id);
      assign();
      chosen_.pop_back();
    }
  }

  bool fits() {
    // Nodes that are reached from what they use are other nodes than those before; so are the roots of two
    // members.
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const bool consumer = via(places_[i]) == Step::Via::consumer;
      const bool second_root = i > 0 && via(places_[i]) == Step::Via::anchor;
      if ((consumer || second_root) &&
          std::find(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(i), chosen_[i]) !=
              chosen_.begin() + static_cast<std::ptrdiff_t>(i)) {
        return false;
      }
    }
    for (unsigned orders = 0; orders < (1u << places_.size()); ++orders) {
      if (fits_in_order(orders)) return true;
    }
    return false;
  }

  Step::Via via(const Place& place) const {
    for (const Step& step : rule_.steps) {
      if (step.node == place.node) return step.via;
    }
    return Step::Via::anchor;
  }

  bool fits_in_order(unsigned orders) {
    Bindings bindings(rule_);
    for (std::size_t d = 0; d < rule_.domains.size(); ++d) {
      while (bindings.members[d].size() < 2) bindings.members[d].extend(rule_.frames[d + 1]);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const bool swap = (orders >> i & 1u) != 0;
      if (!unify(rule_.nodes[places_[i].node], static_cast<std::size_t>(places_[i].member), chosen_[i], swap,
                 bindings))
        return false;
    }
    for (const Step& step : rule_.steps) {
      for (const Check& check : step.checks) {
        if (!passes(check, graph_, bindings)) return false;
      }
    }
    for (const Check& check : rule_.set_checks) {
      if (!passes(check, graph_, bindings)) return false;
    }
    for (const Code& code : rule_.same) {
      const Quantity a = evaluate(code, {graph_, bindings, rule_.sibling_domain, 0});
      const Quantity b = evaluate(code, {graph_, bindings, rule_.sibling_domain, 1});
      if (!a.known() || !a.equals(b)) return false;
    }
    return applies();
  }

  bool unify(const PatternNode& pattern, std::size_t member, graph::NodeId id, bool swap,
             Bindings& bindings) {
    const graph::Node& node = graph_.node(id);
    if (swap && !pattern.commutative) return false;
    std::vector<graph::Value> inputs(node.inputs.begin(), node.inputs.end());
    if (inputs.size() > pattern.operands.size()) return false;
    inputs.resize(pattern.operands.size());
    if (swap) std::swap(inputs[0], inputs[1]);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].present() && !pattern.operands[i].optional) return false;
      if (!same_or_bind(bindings.tensor(pattern.operands[i].slot, member), Tensor::of(graph_, inputs[i])))
        return false;
    }
    if (pattern.outputs.size() != node.outputs.size()) return false;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
      if (!same_or_bind(bindings.tensor(pattern.outputs[i].slot, member), Tensor::of(graph_, {id, i})))
        return false;
    }
    if (pattern.op) {
      OpBinding& held = bindings.frame(pattern.op->domain, member).ops[pattern.op->index];
      const OpBinding now{node.kind, node.attrs};
      if (held.kind != graph::OpKind::opaque && !(held == now)) return false;
      held = now;
    }
    return attributes_fit(pattern, member, graph_.attrs(id), bindings);
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

  // As a match names them: of each member its own, then the plain ones.
  std::vector<graph::NodeId> named() const {
    std::vector<graph::NodeId> nodes;
    if (!rule_.is_siblings()) return chosen_;
    for (int member = 0; member < 2; ++member) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (rule_.nodes[places_[i].node].domain >= 0 && places_[i].member == member)
          nodes.push_back(chosen_[i]);
      }
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (rule_.nodes[places_[i].node].domain < 0) nodes.push_back(chosen_[i]);
    }
    return nodes;
  }

  // Legality by doing it: the rewrite succeeds and leaves a valid graph.
  bool applies() {
    graph::Graph copy = graph_;
    Match match;
    match.rule = number_;
    const std::vector<graph::NodeId> nodes = named();
    match.nodes = InlineVector<graph::NodeId, 8>(std::span<const graph::NodeId>(nodes));
    try {
      apply(copy, rules_, match);
    } catch (const RuleError&) {
      return false;
    }
    copy.validate();
    return true;
  }

  const RuleSet& rules_;
  std::uint32_t number_;
  const CompiledRule& rule_;
  const graph::Graph& graph_;
  std::vector<graph::NodeId> all_;
  std::vector<Place> places_;
  std::vector<graph::NodeId> chosen_;
  std::set<std::vector<graph::NodeId>> found_;
};

inline bool has_lists(const CompiledRule& rule) {
  return std::any_of(rule.domains.begin(), rule.domains.end(),
                     [](const Domain& domain) { return !domain.siblings; });
}

/// Compares matches that were found with those of the reference, for a rule without lists: all of them; of
/// siblings, that every pair among them is one, and where members share an activation that no pair is
/// missing. Returns the number of the reference's matches.
inline std::size_t expect_reference_matches(const RuleSet& rules, std::uint32_t number,
                                            const graph::Graph& graph, std::span<const Match> matches) {
  const CompiledRule& rule = rules.compiled(number);
  std::size_t pair = 0;
  for (const Step& step : rule.steps) pair += rule.nodes[step.node].domain >= 0 ? 2 : 1;
  std::set<std::vector<graph::NodeId>> found, found_sets, wanted_sets;
  const auto sorted = [](std::vector<graph::NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  for (const Match& match : matches) {
    if (!rule.is_siblings() || match.nodes.size() == pair)
      found.insert({match.nodes.begin(), match.nodes.end()});
  }
  const auto wanted = ReferenceMatcher(rules, number, graph).run();
  for (const auto& nodes : found) EXPECT_TRUE(wanted.contains(nodes)) << rules.info(number).text;
  if (!rule.is_siblings()) {
    EXPECT_EQ(found.size(), wanted.size()) << rules.info(number).text;
  } else if (rule.members_share_activation) {  // each pair is listed in one of its two orders
    for (const auto& nodes : found) found_sets.insert(sorted(nodes));
    for (const auto& nodes : wanted) wanted_sets.insert(sorted(nodes));
    EXPECT_EQ(found_sets, wanted_sets) << rules.info(number).text;
  }
  return wanted.size();
}

}  // namespace regraft::rules::testing
