#include <algorithm>

#include "core/rules/compile/compiler.h"
#include "core/rules/compile/op_domain.h"

namespace regraft::rules {
namespace {

enum BoundSort : int { kTensor, kQuantity };

using SlotKey = std::pair<std::int16_t, std::uint16_t>;

SlotKey key(Slot slot) {
  return {slot.domain, slot.index};
}

void visit(const Code& code, const auto& on_tensor, const auto& on_quantity, const auto& on_set) {
  for (Slot slot : code.tensors) on_tensor(slot);
  if (code.form == Code::Form::variable) on_quantity(code.slot);
  if (code.form == Code::Form::spread || code.form == Code::Form::member_count) on_set(code.domain);
  for (const Code& arg : code.args) visit(arg, on_tensor, on_quantity, on_set);
}

bool reads_uses(const Code& code) {
  const bool here =
      code.form == Code::Form::call && (code.function == Function::uses || code.function == Function::output);
  return here || std::any_of(code.args.begin(), code.args.end(), reads_uses);
}

// Variables of comprehensions are bound by themselves.
void collect_local(const Code& code, std::vector<Slot>& out) {
  if (code.form == Code::Form::comprehension) out.push_back(code.slot);
  for (const Code& arg : code.args) collect_local(arg, out);
}

}  // namespace

void Compiler::plan() {
  classify_domains();
  planned_.assign(rule_.nodes.size(), false);
  distances_.assign(rule_.nodes.size(), 0);
  const std::size_t anchor = choose_anchor();
  rule_.anchors = rule_.nodes[anchor].kinds;
  walk(anchor, Step::Via::anchor, {}, 0);
  while (walk_to_consumer()) {
  }
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (!planned_[i]) {
      error(rule_.nodes[i].at, "this operation shares no activation with the rest of the pattern",
            "constants alone do not connect a pattern");
    }
  }
  rule_.depth = *std::max_element(distances_.begin(), distances_.end());
  rule_.radius = rule_.depth + 2;
  for (PatternNode& node : rule_.nodes) node.floats = needs_floats(node);
  schedule_checks();
  finish_siblings();
}

void Compiler::classify_domains() {
  std::vector<bool> given(rule_.domains.size(), false);
  for (const PatternNode& node : rule_.nodes) {
    for (const auto* list : {&node.operands, &node.outputs}) {
      for (const OperandPattern& pattern : *list) {
        if (pattern.sequence) given[static_cast<std::size_t>(pattern.slot.domain)] = true;
      }
    }
  }
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (given[d]) continue;
    rule_.domains[d].siblings = true;
    if (rule_.sibling_domain >= 0) error(text_.at, "two sets of siblings in one rule", "write two rules");
    rule_.sibling_domain = static_cast<std::int16_t>(d);
  }
  if (rule_.is_siblings() && rule_.domains.size() > 1) {
    error(text_.at, "a set of siblings together with a list of operands", "write two rules");
  }
}

bool Compiler::is_interior(std::size_t node) const {
  for (const OperandPattern& output : rule_.nodes[node].outputs) {
    for (const PatternNode& user : rule_.nodes) {
      for (const OperandPattern& operand : user.operands) {
        if (operand.slot == output.slot) return true;
      }
    }
  }
  return false;
}

std::size_t Compiler::choose_anchor() const {
  std::optional<std::size_t> root, giver;
  std::size_t roots = 0;
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    const PatternNode& node = rule_.nodes[i];
    const auto gives = [](const OperandPattern& p) { return p.sequence; };
    const bool is_giver = std::any_of(node.operands.begin(), node.operands.end(), gives) ||
                          std::any_of(node.outputs.begin(), node.outputs.end(), gives);
    if (!giver && node.domain < 0 && is_giver) giver = i;
    if (is_interior(i)) continue;
    ++roots;
    if (!root && (node.domain < 0 || rule_.is_siblings())) root = i;
  }
  if (!rule_.is_siblings()) return root ? *root : *giver;
  if (roots != 1 || rule_.nodes[*root].domain < 0) {
    error(text_.at, "a set of siblings has one root for each member and no other",
          "name it with '@', as in y@ = MatMul(x, w@)");
  }
  return *root;
}

void Compiler::walk(std::size_t node, Step::Via via, Slot from, std::uint32_t distance) {
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
    for (const OperandPattern& bound : *list) bound_step_.try_emplace({kTensor, key(bound.slot)}, number);
  }
  for (const auto& [attr, slot] : pattern.attrs) bound_step_.try_emplace({kQuantity, key(slot)}, number);
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

bool Compiler::walk_to_consumer() {
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    if (planned_[i]) continue;
    const auto& operands = rule_.nodes[i].operands;
    for (const OperandPattern& operand : operands) {
      const Slot slot = operand.slot;
      if (operand.sequence || !bound_step_.contains({kTensor, key(slot)})) continue;
      if (constant_slots_.contains(key(slot))) continue;
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
std::optional<std::size_t> Compiler::bound_at(const Code& code) const {
  std::vector<Slot> local;
  collect_local(code, local);
  std::size_t step = 0;
  bool known = true;
  const auto need = [&](int sort, Slot slot) {
    const auto found = bound_step_.find({sort, key(slot)});
    known = known && found != bound_step_.end();
    if (found != bound_step_.end()) step = std::max(step, found->second);
  };
  visit(
      code, [&](Slot slot) { need(kTensor, slot); },
      [&](Slot slot) {
        if (std::find(local.begin(), local.end(), slot) == local.end()) need(kQuantity, slot);
      },
      [&](std::int16_t domain) {
        if (domain == rule_.sibling_domain) return;  // known when the whole set is
        std::optional<std::size_t> sized;
        for (const auto& [held, at] : bound_step_)
          if (held.second.first == domain) sized = std::min(sized.value_or(at), at);
        known = known && sized.has_value();
        step = std::max(step, sized.value_or(0));
      });
  return known ? std::optional(step) : std::nullopt;
}

void Compiler::schedule_checks() {
  const auto of_whole_set = [&](const Code& code) {
    bool found = false;
    visit(
        code, [](Slot) {}, [](Slot) {},
        [&](std::int16_t domain) { found = found || domain == rule_.sibling_domain; });
    return found && rule_.is_siblings();
  };
  bool progress = true;
  while (progress) {
    progress = false;
    for (PendingCheck& pending : checks_) {
      const auto at = pending.scheduled ? std::nullopt : bound_at(pending.check.code);
      if (!at) continue;
      pending.scheduled = progress = true;
      const bool late = of_whole_set(pending.check.code);
      if (late && pending.check.target) {
        error(pending.check.code.at, "a name for a value of the whole set", "compute it on the right side");
      }
      // What varies with a given list is known for all its members only after the member's own steps.
      const std::size_t step = pending.check.domain >= 0 || !late ? *at : 0;
      if (pending.check.target) bound_step_.try_emplace({kQuantity, key(*pending.check.target)}, step);
      if (late) {
        rule_.set_checks.push_back(std::move(pending.check));
      } else {
        rule_.steps[step].checks.push_back(std::move(pending.check));
      }
    }
  }
  for (const PendingCheck& pending : checks_) {
    if (!pending.scheduled) {
      error(pending.check.code.at, "a guard or binding reads a name that nothing determines",
            "bind it in a pattern");
    }
  }
}

// Of what a rule reads, the uses of values alone are not seen from below.
void Compiler::find_locality() {
  const auto counts_uses = [](const Check& check) { return reads_uses(check.code); };
  bool& decided = rule_.decided_by_bindings;
  decided = std::none_of(rule_.set_checks.begin(), rule_.set_checks.end(), counts_uses);
  for (const RightStep& step : rule_.right) {
    decided = decided && std::none_of(step.codes.begin(), step.codes.end(), reads_uses);
    for (const auto& [attr, code] : step.attrs) decided = decided && !reads_uses(code);
    for (const RightOperand& operand : step.operands) decided = decided && !reads_uses(operand.number);
  }
  rule_.local = decided && std::none_of(rule_.same.begin(), rule_.same.end(), reads_uses) &&
                std::none_of(rule_.order.begin(), rule_.order.end(), reads_uses);
  for (const Step& step : rule_.steps) {
    rule_.local = rule_.local && step.via != Step::Via::consumer &&
                  std::none_of(step.checks.begin(), step.checks.end(), counts_uses);
  }
}

void Compiler::finish_siblings() {
  if (!(rule_.same.empty() && rule_.order.empty()) && !rule_.is_siblings()) {
    error(text_.at, "same(...) and sort(...) are for sets of siblings",
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
      if (!rule_.is_siblings() || node.domain < 0 || operand.slot.domain >= 0) continue;
      rule_.shared.push_back(operand.slot);
      if (!constant_slots_.contains(key(operand.slot))) rule_.members_share_activation = true;
    }
  }
  if (rule_.is_siblings() && rule_.shared.empty()) {
    error(text_.at, "the members of the set share no operand", "write what they share without '@'");
  }
}

}  // namespace regraft::rules
