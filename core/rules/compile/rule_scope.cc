#include "core/rules/compile/rule_scope.h"

namespace regraft::rules {

const Symbol* RuleScope::find_own(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

const Symbol* RuleScope::find(const std::string& name) const {
  const Symbol* own = find_own(name);
  return own || !outer_ ? own : outer_->find(name);
}

std::optional<std::string> RuleScope::name_of(Slot tensor) const {
  for (const auto& [name, symbol] : names_)
    if (symbol.sort == Sort::tensor && symbol.slot == tensor) return name;
  return std::nullopt;
}

void RuleScope::add_names(std::vector<std::string_view>& out) const {
  if (outer_) outer_->add_names(out);
  for (const auto& [name, symbol] : names_) out.push_back(name);
}

void RuleScope::unknown_name(const Expr& name, std::string_view expected) const {
  std::vector<std::string_view> known;
  add_names(known);
  reporter_.fail(name.at, "'" + name.text + "' is not determined by the left side",
                 nearest(name.text, known, "bind it there as " + std::string(expected)));
}

Slot RuleScope::fresh(Sort sort, std::int16_t member_set) {
  FrameSize& frame = rule_.frames[static_cast<std::size_t>(member_set + 1)];
  std::uint16_t& count = sort == Sort::tensor ? frame.tensors
                         : sort == Sort::op   ? frame.ops
                                              : frame.quantities;
  return {member_set, count++};
}

Slot RuleScope::tensor(const std::string& name, bool member, const std::string& member_set, Position at) {
  if (const Symbol* held = find(name)) {
    if (held->sort != Sort::tensor)
      reporter_.fail(at, "'" + name + "' is a tensor here and something else before",
                     "give one of them another name");
    const bool same = (held->slot.member_set >= 0) == member &&
                      (!member || held->slot.member_set == member_set_named(member_set));
    if (!same)
      reporter_.fail(at, "'" + name + "' is used both with and without '@', or for two sets",
                     "write it the same way everywhere");
    return held->slot;
  }
  const Slot slot = fresh(Sort::tensor, member_set_named(member, member_set));
  bind(name, {Sort::tensor, slot, {}});
  return slot;
}

Slot RuleScope::quantity(const Expr& name) {
  if (!find(name.text))
    bind(name.text,
         {Sort::quantity, fresh(Sort::quantity, member_set_named(name.member, name.member_set)), {}});
  const Slot slot = find(name.text)->slot;
  if ((slot.member_set >= 0) != name.member) {
    reporter_.fail(name.at, "'" + name.text + "' is used both with and without '@'",
                   "write it the same way everywhere");
  }
  return slot;
}

Slot RuleScope::known_tensor(const Expr& e) const {
  if (e.form != Expr::Form::name)
    reporter_.fail(e.at, "a name of a tensor is expected here", "bind the expression to a name");
  const Symbol* symbol = find(e.text);
  if (!symbol) unknown_name(e, "an operand");
  if (symbol->sort != Sort::tensor)
    reporter_.fail(e.at, "'" + e.text + "' is no tensor", "name an operand or an output of a pattern");
  if ((symbol->slot.member_set >= 0) != e.member) {
    reporter_.fail(e.at,
                   e.member ? "'" + e.text + "' is the same for all members"
                            : "'" + e.text + "' has one value for each member",
                   e.member ? "remove '@'" : "write " + e.text + "@");
  }
  return symbol->slot;
}

std::int16_t RuleScope::member_set_named(const std::string& name) {
  for (std::size_t i = 0; i < rule_.member_sets.size(); ++i) {
    if (rule_.member_sets[i].name == name) return static_cast<std::int16_t>(i);
  }
  rule_.member_sets.push_back({name, false});
  rule_.frames.emplace_back();
  return static_cast<std::int16_t>(rule_.member_sets.size() - 1);
}

std::int16_t RuleScope::member_set_of(const Expr& e) {
  std::int16_t found =
      e.form == Expr::Form::name && e.member ? member_set_named(e.member_set) : std::int16_t{-1};
  if (e.form == Expr::Form::spread) return -1;
  const auto merge = [&](std::int16_t other, Position at) {
    if (other < 0) return;
    if (found >= 0 && other != found)
      reporter_.fail(at, "an expression over the members of two sets", "spread one with '...'");
    found = other;
  };
  for (const Expr& arg : e.args) merge(member_set_of(arg), arg.at);
  for (const AttrItem& item : e.attrs) merge(member_set_of(item.value), item.at);
  return found;
}

bool RuleScope::is_tensor(const Expr& e) const {
  switch (e.form) {
    case Expr::Form::operation:
      return true;
    case Expr::Form::name: {
      const Symbol* symbol = find(e.text);
      return symbol && symbol->sort == Sort::tensor;
    }
    case Expr::Form::call: {
      const Symbol* symbol = find(e.text);
      return symbol && symbol->sort == Sort::op;
    }
    case Expr::Form::optional:
    case Expr::Form::spread:
      return is_tensor(e.args[0]);
    case Expr::Form::infix:
      return (e.text == "+" || e.text == "-" || e.text == "*" || e.text == "/" || e.text == "??") &&
             (is_tensor(e.args[0]) || is_tensor(e.args[1]));
    default:
      return false;
  }
}

}
