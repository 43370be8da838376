#include <algorithm>

#include "core/rules/compile/compiler.h"
#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

bool bare_name(const Expr& e) {
  return e.form == Expr::Form::name && e.text != "index" && e.text != "count";
}

Code variable(Slot slot, Position at) {
  Code c;
  c.form = Code::Form::variable;
  c.slot = slot;
  c.at = at;
  return c;
}

Code number(std::size_t value, Position at) {
  Code c;
  c.literal = Quantity::of(static_cast<std::int64_t>(value));
  c.at = at;
  return c;
}

Code node_of(Code::Form form, Position at, std::vector<Code> args) {
  Code c;
  c.form = form;
  c.at = at;
  c.args = std::move(args);
  return c;
}

}  // namespace

void Compiler::pattern_label(const Expr& e, PatternNode& node) {
  if (e.label.empty()) {
    if (node.kinds.count() > 1)
      error(e.at, "a class of operations needs a name", "write f:" + e.classes[0] + "(...)");
    if (e.copy_attrs)
      error(e.at, "'*' without a name is lost on the right", "write f:" + e.classes[0] + "{*}(...)");
    return;
  }
  const Symbol* held = find(e.label);
  if (held && held->sort != Sort::op)
    error(e.at, "'" + e.label + "' is an operation here and something else before",
          "give one of them another name");
  if (!held) {
    names_[e.label] = {Sort::op, fresh(Sort::op, -1), {}, e.at};
    held = find(e.label);
  }
  node.op = held->slot;
}

// Whether a name between braces takes the attribute's value: it is new, or was bound by another attribute.
bool Compiler::binds_attribute(const Expr& e) const {
  if (!bare_name(e) || let_names_.contains(e.text)) return false;
  const Symbol* held = find(e.text);
  return !held || held->sort == Sort::quantity;
}

Slot Compiler::declare_quantity(const Expr& name) {
  if (!find(name.text)) {
    const std::int16_t domain = name.member ? domain_of(name.domain) : std::int16_t{-1};
    names_[name.text] = {Sort::quantity, fresh(Sort::quantity, domain), {}, name.at};
  }
  const Slot slot = find(name.text)->slot;
  if ((slot.domain >= 0) != name.member) {
    error(name.at, "'" + name.text + "' is used both with and without '@'",
          "write it the same way everywhere");
  }
  return slot;
}

void Compiler::pattern_attrs(const Expr& e, PatternNode& node) {
  const bool any = e.copy_attrs || (node.kinds.count() > 1 && e.attrs.empty());
  if (node.kinds.count() > 1 && !e.attrs.empty()) {
    error(e.attrs[0].at, "attributes of a class of operations cannot be named",
          "write f:" + e.classes[0] + "(...)");
  }
  const graph::OpKind kind = some_kind(node.kinds);
  std::set<graph::Attr> seen;
  for (std::size_t i = 0; i < e.attrs.size(); ++i) {
    const AttrItem& item = e.attrs[i];
    const graph::Attr attr = attr_of_item(e, kind, item, i, seen);
    if (!item.compare && binds_attribute(item.value)) {
      node.attrs.emplace_back(attr, declare_quantity(item.value));
      continue;
    }
    const Slot hidden = fresh(Sort::quantity, node.domain);
    node.attrs.emplace_back(attr, hidden);
    const auto spreads = [](const Expr& element) { return element.form == Expr::Form::spread; };
    const auto& elements = item.value.args;
    const bool list = item.value.form == Expr::Form::list;
    if (list && std::none_of(elements.begin(), elements.end(), spreads)) {
      take_apart(item.value, hidden, node.domain);
    } else {
      defer_equality(variable(hidden, item.at), item.value, node.domain);
    }
  }
  if (!any) require_defaults(e, kind, seen, node);
}

// [a, 1] as an attribute: a list of two whose first element is bound, or compared, and whose second is one.
void Compiler::take_apart(const Expr& list, Slot hidden, std::int16_t domain) {
  Check length;
  length.domain = domain;
  Code call = node_of(Code::Form::call, list.at, {variable(hidden, list.at)});
  call.function = Function::len;
  length.code = node_of(Code::Form::compare, list.at, {std::move(call), number(list.args.size(), list.at)});
  length.code.symbol = "==";
  checks_.push_back({std::move(length)});
  for (std::size_t i = 0; i < list.args.size(); ++i) {
    const Expr& element = list.args[i];
    Code part = node_of(Code::Form::index, element.at, {variable(hidden, list.at), number(i, list.at)});
    if (!bare_name(element) || find(element.text)) {
      defer_equality(std::move(part), element, domain);
      continue;
    }
    Check take;
    take.target = declare_quantity(element);
    take.domain = take.target->domain;
    take.code = std::move(part);
    let_names_.insert(element.text);
    const bool of_first = domain >= 0 && take.domain < 0;  // what the first member has, all have
    if (of_first) defer_equality(take.code, element, domain);
    checks_.push_back({std::move(take)});
  }
}

// Names in `wanted` may be bound by later clauses: it is compiled once all patterns are read.
void Compiler::defer_equality(Code held, const Expr& wanted, std::int16_t domain) {
  Check check;
  check.domain = domain;
  check.code = node_of(Code::Form::compare, wanted.at, {std::move(held)});
  check.code.symbol = "==";
  deferred_attrs_.push_back({std::move(check), &wanted});
}

// What a pattern does not mention has its default.
void Compiler::require_defaults(const Expr& e, graph::OpKind kind, const std::set<graph::Attr>& seen,
                                PatternNode& node) {
  for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
    if (seen.contains(spec.attr) || spec.attr == graph::Attr::momentum) continue;
    if (always_present(kind, spec.attr)) {
      error(e.at, e.classes[0] + " says nothing of its attribute " + std::string(graph::attr_name(spec.attr)),
            "bind it, or write f:" + e.classes[0] + "{*}(...)");
    }
    if (spec.fallback) {
      node.required.emplace_back(spec.attr, *spec.fallback);
    } else {
      node.absent.push_back(spec.attr);
    }
  }
}

}  // namespace regraft::rules
