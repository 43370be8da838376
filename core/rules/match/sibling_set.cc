#include "core/rules/match/sibling_set.h"

#include <algorithm>

#include "core/rules/instantiate/evaluate.h"
#include "core/rules/instantiate/passes.h"

namespace regraft::rules {
namespace {

bool same_quantities(const std::vector<Quantity>& a, const std::vector<Quantity>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Quantity& x, const Quantity& y) {
    return x.known() == y.known() && (!x.known() || x.equals(y));
  });
}

// Values alone name a tensor of the left side: types and weights follow.
bool same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.state == y.state && x.value == y.value;
  });
}

bool same_plain(const Frame& a, const Frame& b) {
  return same_tensors(a.tensors, b.tensors) && a.ops == b.ops && same_quantities(a.quantities, b.quantities);
}

}  // namespace

bool complete(const CompiledRule& rule, const graph::Graph& graph, Member& member) {
  const Scope scope{graph, member.bindings, rule.sibling_member_set, 0};
  member.same.clear();
  member.order.clear();
  for (const Code& code : rule.same) {
    member.same.push_back(evaluate(code, scope));
    if (!member.same.back().known()) return false;
  }
  for (const Code& code : rule.order) {
    const Quantity value = evaluate(code, scope);
    if (value.kind != Quantity::Kind::integer) return false;
    member.order.push_back(value.integer);
  }
  return true;
}

bool compatible(const Member& a, const Member& b) {
  return same_plain(a.bindings.plain, b.bindings.plain) && same_quantities(a.same, b.same);
}

void assemble(const CompiledRule& rule, std::span<const Member* const> others, Bindings& first) {
  const auto member_set = static_cast<std::size_t>(rule.sibling_member_set);
  for (const Member* member : others)
    first.members[member_set].push_back(member->bindings.members[member_set][0]);
}

void append_set_nodes(const CompiledRule& rule, std::span<const Member* const> members,
                      InlineVector<graph::NodeId, 8>& nodes) {
  for (const Member* member : members) {
    const Frame& own = member->bindings.members[static_cast<std::size_t>(rule.sibling_member_set)][0];
    for (const Step& step : rule.steps) {
      const PatternNode& pattern = rule.nodes[step.node];
      if (pattern.member_set >= 0) nodes.push_back(own.nodes[pattern.index]);
    }
  }
  for (const Step& step : rule.steps) {
    const PatternNode& pattern = rule.nodes[step.node];
    if (pattern.member_set < 0) nodes.push_back(members[0]->bindings.plain.nodes[pattern.index]);
  }
}

bool passes_set_checks(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  return std::all_of(rule.set_checks.begin(), rule.set_checks.end(),
                     [&](const Check& check) { return passes(check, graph, bindings); });
}

}
