#include "core/rules/compile/attribute_patterns.h"

#include <algorithm>

#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

bool bare_name(const Expr& e) {
  return e.form == Expr::Form::name && e.text != "index" && e.text != "count";
}

Code literal(std::size_t value, Position at) {
  return Code::of(Quantity::of(static_cast<std::int64_t>(value)), at);
}

}  // namespace

// Whether a name between braces takes the attribute's value: it is new, or was bound by another attribute.
bool AttributePatterns::binds(const Expr& e) const {
  if (!bare_name(e) || valued_.contains(e.text)) return false;
  const Symbol* held = scope_.find(e.text);
  return !held || held->sort == Sort::quantity;
}

void AttributePatterns::compile(const Expr& e, PatternNode& node) {
  const bool any = e.copy_attrs || (node.kinds.count() > 1 && e.attrs.empty());
  if (node.kinds.count() > 1 && !e.attrs.empty()) {
    reporter_.fail(e.attrs[0].at, "attributes of a class of operations cannot be named",
                   "write f:" + e.classes[0] + "(...)");
  }
  const graph::OpKind kind = some_kind(node.kinds);
  std::set<graph::Attr> seen;
  for (std::size_t i = 0; i < e.attrs.size(); ++i) {
    const AttrItem& item = e.attrs[i];
    const graph::Attr attr = signature_.attr(e, kind, i, seen);
    if (!item.compare && binds(item.value)) {
      node.attrs.emplace_back(attr, scope_.quantity(item.value));
      continue;
    }
    const Slot hidden = scope_.fresh(Sort::quantity, node.member_set);
    node.attrs.emplace_back(attr, hidden);
    const auto spreads = [](const Expr& element) { return element.form == Expr::Form::spread; };
    const auto& elements = item.value.args;
    const bool list = item.value.form == Expr::Form::list;
    if (list && std::none_of(elements.begin(), elements.end(), spreads)) {
      take_apart(item.value, hidden, node.member_set);
    } else {
      compare_later(Code::of(hidden, item.at), item.value, node.member_set);
    }
  }
  if (!any) require_defaults(e, kind, seen, node);
}

// [a, 1] as an attribute: a list of two whose first element is bound, or compared, and whose second is one.
void AttributePatterns::take_apart(const Expr& list, Slot hidden, std::int16_t member_set) {
  Check length;
  length.member_set = member_set;
  Code call = Code::make(Code::Form::call, list.at, {Code::of(hidden, list.at)});
  call.function = Function::len;
  length.code =
      Code::make(Code::Form::compare, list.at, {std::move(call), literal(list.args.size(), list.at)}, "==");
  conditions_.checks.push_back(std::move(length));
  for (std::size_t i = 0; i < list.args.size(); ++i) {
    const Expr& element = list.args[i];
    Code part = Code::make(Code::Form::index, element.at, {Code::of(hidden, list.at), literal(i, list.at)});
    if (!bare_name(element) || scope_.find(element.text)) {
      compare_later(std::move(part), element, member_set);
      continue;
    }
    Check take;
    take.target = scope_.quantity(element);
    take.member_set = take.target->member_set;
    take.code = std::move(part);
    valued_.insert(element.text);
    const bool of_first = member_set >= 0 && take.member_set < 0;  // what the first member has, all have
    if (of_first) compare_later(take.code, element, member_set);
    conditions_.checks.push_back(std::move(take));
  }
}

// Names in `wanted` may be bound by later clauses: it is compiled once all patterns are read.
void AttributePatterns::compare_later(Code held, const Expr& wanted, std::int16_t member_set) {
  Check check;
  check.member_set = member_set;
  check.code = Code::make(Code::Form::compare, wanted.at, {std::move(held)}, "==");
  comparisons_.push_back({std::move(check), &wanted});
}

void AttributePatterns::compile_comparisons() {
  for (Comparison& comparison : comparisons_) {
    comparison.check.code.args.push_back(expressions_.compile(*comparison.wanted));
    conditions_.checks.push_back(std::move(comparison.check));
  }
}

// What a pattern does not mention has its default.
void AttributePatterns::require_defaults(const Expr& e, graph::OpKind kind, const std::set<graph::Attr>& seen,
                                         PatternNode& node) const {
  for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
    if (seen.contains(spec.attr) || spec.attr == graph::Attr::momentum) continue;
    if (always_present(kind, spec.attr)) {
      reporter_.fail(
          e.at, e.classes[0] + " says nothing of its attribute " + std::string(graph::attr_name(spec.attr)),
          "bind it, or write f:" + e.classes[0] + "{*}(...)");
    }
    if (spec.fallback) {
      node.required.emplace_back(spec.attr, *spec.fallback);
    } else {
      node.absent.push_back(spec.attr);
    }
  }
}

}
