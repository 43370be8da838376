#include "core/rules/compile/constant_folder.h"

#include <algorithm>
#include <string_view>

namespace regraft::rules {
namespace {

bool has_zero(const Quantity& value) {
  switch (value.kind) {
    case Quantity::Kind::integer:
      return value.integer == 0;
    case Quantity::Kind::real:
      return value.real == 0;
    case Quantity::Kind::list:
      return std::ranges::find(value.list, 0) != value.list.end();
    default:
      return false;
  }
}

/// What the elements of a constant tensor are made from; null: it is none.
const Expr* elements(const Expr& e) {
  if (e.form != Expr::Form::operation || e.args.empty()) return nullptr;
  if (e.text == "Full" && e.args.size() > 1) return &e.args[1];
  return e.text == "Values" || e.text == "Int" || e.text == "Ints" ? &e.args[0] : nullptr;
}

}  // namespace

ConstantFolder::ConstantFolder(const RuleText& text) {
  for (const auto* side : {&text.left, &text.right}) {
    for (const Clause& clause : *side) {
      if (clause.targets.size() != 1) continue;
      const std::string& name = clause.targets[0].name;
      if (Quantity known = value(clause.value); known.known()) values_[name] = std::move(known);
      if (elements(clause.value) && has_zero(clause.value)) zeros_.insert(name);
    }
  }
}

Quantity ConstantFolder::value(const Expr& e) const {
  switch (e.form) {
    case Expr::Form::integer:
      return Quantity::of(e.integer);
    case Expr::Form::real:
      return Quantity::of(e.real);
    case Expr::Form::text:
      return Quantity::of(e.text);
    case Expr::Form::name: {
      const auto found = values_.find(e.text);
      return found == values_.end() ? Quantity{} : found->second;
    }
    case Expr::Form::prefix:
      return e.text == "-" ? arithmetic('-', Quantity::of(std::int64_t{0}), value(e.args[0])) : Quantity{};
    case Expr::Form::infix:
      if (e.text.size() != 1 || std::string_view("+-*/%").find(e.text[0]) == std::string_view::npos)
        return {};
      return arithmetic(e.text[0], value(e.args[0]), value(e.args[1]));
    case Expr::Form::list: {
      List list;
      for (const Expr& element : e.args) {
        const Quantity item = value(element);
        if (item.kind != Quantity::Kind::integer) return {};
        list.push_back(item.integer);
      }
      return Quantity::of(std::move(list));
    }
    default:
      return {};
  }
}

bool ConstantFolder::has_zero(const Expr& e) const {
  if (const Expr* made_from = elements(e)) return has_zero(*made_from);
  if (e.form == Expr::Form::name && zeros_.contains(e.text)) return true;
  return rules::has_zero(value(e));
}

}
