#include "core/rules/compile/match_planner.h"

#include <algorithm>

#include "core/rules/compile/op_domain.h"

namespace regraft::rules {
namespace {

void visit(const Code& code, const auto& on_tensor, const auto& on_quantity, const auto& on_set) {
  for (Slot slot : code.tensors) on_tensor(slot);
  if (code.form == Code::Form::variable) on_quantity(code.slot);
  if (code.form == Code::Form::spread || code.form == Code::Form::member_count) on_set(code.member_set);
  for (const Code& arg : code.args) visit(arg, on_tensor, on_quantity, on_set);
}

// Variables of comprehensions are bound by themselves.
void collect_local(const Code& code, std::vector<Slot>& out) {
  if (code.form == Code::Form::comprehension) out.push_back(code.slot);
  for (const Code& arg : code.args) collect_local(arg, out);
}

}  // namespace

void MatchPlanner::plan(std::vector<Check> checks) {
  classify_member_sets();
  planned_.assign(rule_.nodes.size(), false);
  distances_.assign(rule_.nodes.size(), 0);
  const std::size_t anchor = choose_anchor();
  rule_.anchors = rule_.nodes[anchor].kinds;
  walk(anchor, Step::Via::anchor, {}, 0);
  while (walk_to_consumer()) {
  }
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (!planned_[i]) {
      reporter_.fail(rule_.nodes[i].at, "this operation shares no activation with the rest of the pattern",
                     "constants alone do not connect a pattern");
    }
  }
  rule_.depth = *std::max_element(distances_.begin(), distances_.end());
  rule_.radius = rule_.depth + 2;
  for (PatternNode& node : rule_.nodes) node.floats = needs_floats(node);
  schedule(std::move(checks));
  finish_siblings();
}

void MatchPlanner::classify_member_sets() {
  std::vector<bool> given(rule_.member_sets.size(), false);
  for (const PatternNode& node : rule_.nodes) {
    for (const auto* list : {&node.operands, &node.outputs}) {
      for (const OperandPattern& pattern : *list) {
        if (pattern.sequence) given[static_cast<std::size_t>(pattern.slot.member_set)] = true;
      }
    }
  }
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (given[d]) continue;
    rule_.member_sets[d].siblings = true;
    if (rule_.sibling_member_set >= 0) reporter_.fail("two sets of siblings in one rule", "write two rules");
    rule_.sibling_member_set = static_cast<std::int16_t>(d);
  }
  if (rule_.is_siblings() && rule_.member_sets.size() > 1) {
    reporter_.fail("a set of siblings together with a list of operands", "write two rules");
  }
}

std::size_t MatchPlanner::choose_anchor() const {
  std::optional<std::size_t> root, giver;
  std::size_t roots = 0;
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    const PatternNode& node = rule_.nodes[i];
    const auto gives = [](const OperandPattern& p) { return p.sequence; };
    const bool is_giver = std::any_of(node.operands.begin(), node.operands.end(), gives) ||
                          std::any_of(node.outputs.begin(), node.outputs.end(), gives);
    if (!giver && node.member_set < 0 && is_giver) giver = i;
    if (is_interior(rule_, i)) continue;
    ++roots;
    if (!root && (node.member_set < 0 || rule_.is_siblings())) root = i;
  }
  if (!rule_.is_siblings()) return root ? *root : *giver;
  if (roots != 1 || rule_.nodes[*root].member_set < 0) {
    reporter_.fail("a set of siblings has one root for each member and no other",
                   "name it with '@', as in y@ = MatMul(x, w@)");
  }
  return *root;
}

void MatchPlanner::walk(std::size_t node, Step::Via via, Slot from, std::uint32_t distance) {
  planned_[node] = true;
  distances_[node] = distance;
  Step step;
  step.node = static_cast<std::uint16_t>(node);
  step.via = via;
  step.from = from;
  const std::size_t number = rule_.steps.size();
  rule_.steps.push_back(step);
  const PatternNode pattern = rule_.nodes[node];
  for (const auto* list : {&pattern.operands, &pattern.outputs}) {
    for (const OperandPattern& bound : *list) bound_step_.try_emplace({Bound::tensor, bound.slot}, number);
  }
  for (const auto& [attr, slot] : pattern.attrs) bound_step_.try_emplace({Bound::quantity, slot}, number);
  for (const OperandPattern& operand : pattern.operands) {
    for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
      if (planned_[i]) continue;
      const auto& outputs = rule_.nodes[i].outputs;
      const bool makes = std::any_of(outputs.begin(), outputs.end(),
                                     [&](const OperandPattern& o) { return o.slot == operand.slot; });
      if (makes) walk(i, Step::Via::producer, operand.slot, distance + 1);
    }
  }
}

bool MatchPlanner::walk_to_consumer() {
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    if (planned_[i]) continue;
    const auto& operands = rule_.nodes[i].operands;
    for (const OperandPattern& operand : operands) {
      const Slot slot = operand.slot;
      if (operand.sequence || !bound_step_.contains({Bound::tensor, slot})) continue;
      if (constants_.contains(slot)) continue;
      std::uint32_t nearest_user = 0;
      for (std::size_t j = 0; j < rule_.nodes.size(); ++j) {
        if (planned_[j]) nearest_user = std::max(nearest_user, distances_[j]);
      }
      walk(i, Step::Via::consumer, slot, nearest_user + 2);
      return true;
    }
  }
  return false;
}

// The first step after which everything that the code reads is bound; nothing when some of it is not bound
// yet.
std::optional<std::size_t> MatchPlanner::bound_at(const Code& code) const {
  std::vector<Slot> local;
  collect_local(code, local);
  std::size_t step = 0;
  bool known = true;
  const auto need = [&](Bound sort, Slot slot) {
    const auto found = bound_step_.find({sort, slot});
    known = known && found != bound_step_.end();
    if (found != bound_step_.end()) step = std::max(step, found->second);
  };
  visit(
      code, [&](Slot slot) { need(Bound::tensor, slot); },
      [&](Slot slot) {
        if (std::find(local.begin(), local.end(), slot) == local.end()) need(Bound::quantity, slot);
      },
      [&](std::int16_t member_set) {
        if (member_set == rule_.sibling_member_set) return;  // known when the whole set is
        std::optional<std::size_t> sized;
        for (const auto& [held, at] : bound_step_)
          if (held.second.member_set == member_set) sized = std::min(sized.value_or(at), at);
        known = known && sized.has_value();
        step = std::max(step, sized.value_or(0));
      });
  return known ? std::optional(step) : std::nullopt;
}

void MatchPlanner::schedule(std::vector<Check> checks) {
  for (bool progress = true; progress;) {
    std::vector<Check> later;
    for (Check& check : checks) {
      if (const auto at = bound_at(check.code)) {
        schedule(std::move(check), *at);
      } else {
        later.push_back(std::move(check));
      }
    }
    progress = later.size() < checks.size();
    checks = std::move(later);
  }
  if (!checks.empty())
    reporter_.fail(checks[0].code.at, "a guard or binding reads a name that nothing determines",
                   "bind it in a pattern");
}

void MatchPlanner::schedule(Check check, std::size_t bound_at) {
  bool late = false;  // known once the whole set is
  visit(
      check.code, [](Slot) {}, [](Slot) {},
      [&](std::int16_t member_set) {
        late = late || (rule_.is_siblings() && member_set == rule_.sibling_member_set);
      });
  if (late && check.target)
    reporter_.fail(check.code.at, "a name for a value of the whole set", "compute it on the right side");
  if (check.target) bound_step_.try_emplace({Bound::quantity, *check.target}, bound_at);
  (late ? rule_.set_checks : rule_.steps[bound_at].checks).push_back(std::move(check));
}

void MatchPlanner::finish_siblings() {
  if (!(rule_.same.empty() && rule_.order.empty()) && !rule_.is_siblings()) {
    reporter_.fail("same(...) and sort(...) are for sets of siblings",
                   "compare what the members have, as in min([w@.0...]) == max([w@.0...])");
  }
  std::vector<Slot> produced;
  for (const PatternNode& node : rule_.nodes) {
    for (const OperandPattern& output : node.outputs) produced.push_back(output.slot);
  }
  for (const PatternNode& node : rule_.nodes) {
    for (const OperandPattern& operand : node.operands) {
      const bool made = std::find(produced.begin(), produced.end(), operand.slot) != produced.end();
      const bool listed =
          std::find(rule_.leaves.begin(), rule_.leaves.end(), operand.slot) != rule_.leaves.end();
      if (!made && !listed) rule_.leaves.push_back(operand.slot);
      if (!rule_.is_siblings() || node.member_set < 0 || operand.slot.member_set >= 0) continue;
      rule_.shared.push_back(operand.slot);
      if (!constants_.contains(operand.slot)) rule_.members_share_activation = true;
    }
  }
  if (rule_.is_siblings() && rule_.shared.empty()) {
    reporter_.fail("the members of the set share no operand", "write what they share without '@'");
  }
}

}
