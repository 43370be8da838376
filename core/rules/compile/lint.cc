#include "core/rules/compile/lint.h"

#include <algorithm>
#include <set>

#include "core/rules/compile/check_values.h"
#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

bool same(const Expr& a, const Expr& b) {
  const auto equal_items = [](const AttrItem& x, const AttrItem& y) {
    return x.name == y.name && x.compare == y.compare && same(x.value, y.value);
  };
  return a.form == b.form && a.text == b.text && a.label == b.label && a.classes == b.classes &&
         a.member_set == b.member_set && a.member == b.member && a.copy_attrs == b.copy_attrs &&
         a.integer == b.integer && a.real == b.real &&
         std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), same) &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), equal_items);
}

bool same(const Clause& a, const Clause& b) {
  const auto equal_targets = [](const Target& x, const Target& y) {
    return x.name == y.name && x.member_set == y.member_set && x.member == y.member && x.spread == y.spread;
  };
  return std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end(), equal_targets) &&
         same(a.value, b.value);
}

/// Whether it holds for every graph or for none.
bool speaks_of_nothing(const Expr& e) {
  const bool reads = e.form == Expr::Form::name && e.text != "true" && e.text != "false";
  return !reads && e.form != Expr::Form::none && std::ranges::all_of(e.args, speaks_of_nothing);
}

/// Names that the values of a side of a rule speak of.
void names_read(const Expr& e, std::set<std::string>& out) {
  if (e.form == Expr::Form::name) out.insert(e.text);
  for (const Expr& arg : e.args) names_read(arg, out);
  for (const AttrItem& item : e.attrs) names_read(item.value, out);
}

/// The one op that an operation stands for; nothing where there are several.
std::optional<graph::OpKind> only_kind(const Expr& e, const CompiledRule& rule, const RuleScope& left) {
  KindSet kinds;
  for (const std::string& name : e.classes) kinds |= kinds_of(name);
  if (const Symbol* op = left.find(e.text); e.classes.empty() && op && op->sort == Sort::op)
    for (const PatternNode& node : rule.nodes)
      if (node.op == op->slot) kinds = node.kinds;
  return kinds.count() == 1 ? std::optional(some_kind(kinds)) : std::nullopt;
}

void check_used(const RuleText& text, const RuleScope& left) {
  std::set<std::string> read;
  for (const Clause& clause : text.right) names_read(clause.value, read);
  for (const Clause& clause : text.right) {
    const auto matters = [&](const Target& target) {  // what the left side has is replaced
      return left.find(target.name) || read.contains(target.name);
    };
    if (clause.targets.empty() || std::ranges::any_of(clause.targets, matters)) continue;
    left.reporter().fail(clause.targets[0].at, "'" + clause.targets[0].name + "' is made and never used",
                         "remove it, or use it in what replaces a root");
  }
}

}  // namespace

void lint(const RuleText& text, const CompiledRule& rule, const RuleScope& left) {
  const RuleReporter& reporter = left.reporter();
  check_values(
      text, [&](const Expr& e) { return only_kind(e, rule, left); }, reporter);
  for (const Clause& clause : text.left) {
    if (clause.targets.empty() && clause.value.form != Expr::Form::operation &&
        speaks_of_nothing(clause.value))
      reporter.fail(clause.at, "a guard that is the same for every graph",
                    "compare something of the pattern");
  }
  const auto on_left = [&](const Clause& clause) {
    return std::ranges::any_of(text.left, [&](const Clause& other) { return same(other, clause); });
  };
  if (std::ranges::all_of(text.right, on_left))
    reporter.fail(text.right[0].at, "the right side is the left side", "write what replaces it");
  check_used(text, left);
}

}
