#include <algorithm>

#include "core/rules/compiler.h"

namespace regraft::rules {
namespace {

bool same(const Expr& a, const Expr& b) {
  const auto equal_items = [](const AttrItem& x, const AttrItem& y) {
    return x.name == y.name && x.compare == y.compare && same(x.value, y.value);
  };
  return a.form == b.form && a.text == b.text && a.label == b.label && a.classes == b.classes &&
         a.domain == b.domain && a.member == b.member && a.copy_attrs == b.copy_attrs &&
         a.integer == b.integer && a.real == b.real &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), same) &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), equal_items);
}

bool same(const Clause& a, const Clause& b) {
  const auto equal_targets = [](const Target& x, const Target& y) {
    return x.name == y.name && x.domain == y.domain && x.member == y.member && x.spread == y.spread;
  };
  return std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end(), equal_targets) &&
         same(a.value, b.value);
}

/// Whether it holds for every graph or for none.
bool speaks_of_nothing(const Expr& e) {
  const bool reads = e.form == Expr::Form::name && e.text != "true" && e.text != "false";
  return !reads && e.form != Expr::Form::none && std::ranges::all_of(e.args, speaks_of_nothing);
}

/// The first division by a zero that is written as such.
const Expr* division_by_zero(const Expr& e) {
  const auto zero = [](const Expr& x) {
    return (x.form == Expr::Form::integer || x.form == Expr::Form::real) && x.real == 0;
  };
  if (e.form == Expr::Form::infix && (e.text == "/" || e.text == "%") && zero(e.args[1])) return &e;
  for (const Expr& arg : e.args)
    if (const Expr* found = division_by_zero(arg)) return found;
  for (const AttrItem& item : e.attrs)
    if (const Expr* found = division_by_zero(item.value)) return found;
  return nullptr;
}

}  // namespace

void Compiler::check_sense() const {
  for (const auto* side : {&text_.left, &text_.right}) {
    for (const Clause& clause : *side) {
      if (const Expr* division = division_by_zero(clause.value))
        error(division->at, "a division by zero", "divide by something else");
    }
  }
  for (const Clause& clause : text_.left) {
    if (clause.targets.empty() && clause.value.form != Expr::Form::operation &&
        speaks_of_nothing(clause.value))
      error(clause.at, "a guard that is the same for every graph", "compare something of the pattern");
  }
  const auto on_left = [&](const Clause& clause) {
    return std::ranges::any_of(text_.left, [&](const Clause& other) { return same(other, clause); });
  };
  if (std::ranges::all_of(text_.right, on_left))
    error(text_.right[0].at, "the right side is the left side", "write what replaces it");
}

}  // namespace regraft::rules
