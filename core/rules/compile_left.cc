#include <algorithm>

#include "core/rules/compiler.h"
#include "core/rules/op_names.h"

namespace regraft::rules {
namespace {

bool is_guard_on(const Expr& e, std::string_view function) {
  return e.form == Expr::Form::call && e.text == function;
}

bool bare_name(const AttrItem& item) {
  return !item.compare && item.value.form == Expr::Form::name && item.value.text != "index" &&
         item.value.text != "count";
}

}  // namespace

void Compiler::left() {
  collect_lets();
  for (const Clause& clause : text_.left) {
    if (clause.value.form == Expr::Form::operation) root_operation(clause);
  }
  if (rule_.nodes.empty())
    error(text_.at, "the left side has no operation", "a pattern is Name{attributes}(operands)");
  for (const Clause& clause : text_.left) {
    if (clause.value.form != Expr::Form::operation) left_clause(clause);
  }
  for (DeferredAttr& deferred : deferred_attrs_) {
    deferred.check.code.args.push_back(code(*deferred.value));
    checks_.push_back({std::move(deferred.check)});
  }
}

// Names bound by 'n = expression' on the left are never bound by an attribute.
void Compiler::collect_lets() {
  for (const Clause& clause : text_.left) {
    if (clause.targets.empty() || clause.value.form == Expr::Form::operation) continue;
    if (clause.targets.size() > 1) error(clause.at, "several names for one value");
    const Target& target = clause.targets[0];
    if (!let_names_.insert(target.name).second || names_.contains(target.name)) {
      error(target.at, "'" + target.name + "' is bound twice");
    }
    const std::int16_t domain = target.member ? domain_of(target.domain) : std::int16_t{-1};
    names_[target.name] = {Sort::quantity, fresh(Sort::quantity, domain), {}, target.at};
  }
}

void Compiler::left_clause(const Clause& clause) {
  if (clause.targets.empty()) return guard(clause.value);
  Check check;
  check.target = names_.at(clause.targets[0].name).slot;
  check.domain = check.target->domain;
  const std::int16_t inner = member_domain(clause.value);
  if (inner >= 0 && inner != check.domain) {
    error(clause.at, "'" + clause.targets[0].name + "' varies with the members",
          "write " + clause.targets[0].name + "@");
  }
  check.code = code(clause.value);
  checks_.push_back({std::move(check)});
}

void Compiler::root_operation(const Clause& clause) {
  std::vector<OperandPattern> outputs;
  std::int16_t domain = member_domain(clause.value);
  for (const Target& target : clause.targets) {
    const Symbol* known = find(target.name);
    if (known && known->sort != Sort::tensor) error(target.at, "'" + target.name + "' is bound twice");
    OperandPattern output;
    output.slot = declare_tensor(target.name, target.member, target.domain, target.at);
    output.sequence = target.spread;
    if (target.spread && !target.member) error(target.at, "'...' after a name without '@'");
    if (target.member && !target.spread) {
      if (domain >= 0 && domain != output.slot.domain) error(target.at, "members of two sets");
      domain = output.slot.domain;
    }
    if (!target.member && domain >= 0) {
      error(target.at, "'" + target.name + "' varies with the members", "write " + target.name + "@");
    }
    outputs.push_back(output);
  }
  if (clause.targets.empty()) {
    if (unnamed_root_) error(clause.at, "a second pattern without a name", "name them as in a = Relu(x)");
    unnamed_root_ = fresh(Sort::tensor, domain);
    outputs.push_back({*unnamed_root_});
  }
  for (const PatternNode& node : rule_.nodes) {
    for (const OperandPattern& made : node.outputs) {
      for (const OperandPattern& output : outputs) {
        if (made.slot == output.slot) error(clause.at, "a name is bound to two operations");
      }
    }
  }
  pattern_node(clause.value, domain, std::move(outputs));
}

std::size_t Compiler::pattern_node(const Expr& e, std::int16_t domain, std::vector<OperandPattern> outputs) {
  PatternNode node;
  node.at = e.at;
  node.domain = domain;
  node.outputs = std::move(outputs);
  if (e.classes.empty())
    error(e.at, "'" + e.text + "' is no operation", "names of operations begin with a capital");
  node.kinds = kinds_of_operation(e);
  check_arity(e, node.kinds);
  const graph::OpInfo& op = graph::op_info(some_kind(node.kinds));
  if (!op.is(graph::kMultiOutput) && (node.outputs.size() > 1 || node.outputs[0].sequence)) {
    error(e.at, std::string(op.name) + " has one output");
  }
  node.commutative =
      e.args.size() == 2 && op.is(graph::kCommutative) && !op.is(graph::kVariadic) && node.kinds.count() == 1;
  node.index = rule_.frames[static_cast<std::size_t>(domain + 1)].nodes++;
  pattern_label(e, node);
  pattern_attrs(e, node);
  const std::size_t position = rule_.nodes.size();
  rule_.nodes.push_back(node);
  for (const Expr& arg : e.args) {
    OperandPattern operand_pattern = operand(arg, domain);
    rule_.nodes[position].operands.push_back(operand_pattern);
  }
  return position;
}

OperandPattern Compiler::operand(const Expr& e, std::int16_t domain) {
  switch (e.form) {
    case Expr::Form::name:
      return {declare_tensor(e.text, e.member, e.domain, e.at)};
    case Expr::Form::optional: {
      if (e.args[0].form != Expr::Form::name) error(e.at, "only a named operand can be optional");
      OperandPattern out = operand(e.args[0], domain);
      out.optional = true;
      return out;
    }
    case Expr::Form::spread: {
      if (domain >= 0) error(e.at, "a list of operands within a member", "sets do not nest");
      const std::int16_t inner = member_domain(e.args[0]);
      if (inner < 0)
        error(e.at, "'...' over an operand that is the same for all members", "mark what varies with '@'");
      OperandPattern out = operand(e.args[0], inner);
      out.sequence = true;
      return out;
    }
    case Expr::Form::operation: {
      const std::int16_t inner = member_domain(e);
      if (inner >= 0 && domain >= 0 && inner != domain) error(e.at, "members of two sets");
      const Slot slot = fresh(Sort::tensor, inner);
      pattern_node(e, inner, {OperandPattern{slot}});
      return {slot};
    }
    case Expr::Form::integer:
    case Expr::Form::real:
      return literal_operand(e, e.real, domain);
    case Expr::Form::prefix:
      if (e.text == "-" && (e.args[0].form == Expr::Form::integer || e.args[0].form == Expr::Form::real)) {
        return literal_operand(e, -e.args[0].real, domain);
      }
      [[fallthrough]];
    default:
      error(e.at, "an operand on the left is a name, a number or an operation");
  }
}

OperandPattern Compiler::literal_operand(const Expr& e, double value, std::int16_t domain) {
  const OperandPattern out{fresh(Sort::tensor, domain)};
  Check check;
  check.domain = domain;
  check.code.form = Code::Form::compare;
  check.code.symbol = "==";
  check.code.at = e.at;
  Code held, wanted;
  held.form = Code::Form::call;
  held.function = Function::value;
  held.tensors.push_back(out.slot);
  wanted.literal = Quantity::of(value);
  check.code.args = {held, wanted};
  checks_.push_back({std::move(check)});
  constant_slots_.insert({out.slot.domain, out.slot.index});
  return out;
}

Slot Compiler::declare_tensor(const std::string& name, bool member, const std::string& domain, Position at) {
  if (const Symbol* held = find(name)) {
    if (held->sort != Sort::tensor) error(at, "'" + name + "' is a tensor here and something else before");
    const bool same =
        (held->slot.domain >= 0) == member && (!member || held->slot.domain == domain_of(domain));
    if (!same) error(at, "'" + name + "' is used both with and without '@', or for two sets");
    return held->slot;
  }
  const Slot slot = fresh(Sort::tensor, member ? domain_of(domain) : std::int16_t{-1});
  names_[name] = {Sort::tensor, slot, {}, at};
  return slot;
}

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
    error(e.at, "'" + e.label + "' is an operation here and something else before");
  if (!held) {
    names_[e.label] = {Sort::op, fresh(Sort::op, -1), {}, e.at};
    held = find(e.label);
  }
  node.op = held->slot;
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
    const std::string& name = item.value.text;
    const Symbol* held = bare_name(item) ? find(name) : nullptr;
    const bool binds =
        bare_name(item) && !let_names_.contains(name) && (!held || held->sort == Sort::quantity);
    if (binds) {
      if (!held) {
        const std::int16_t domain = item.value.member ? domain_of(item.value.domain) : std::int16_t{-1};
        names_[name] = {Sort::quantity, fresh(Sort::quantity, domain), {}, item.at};
        held = find(name);
      }
      if ((held->slot.domain >= 0) != item.value.member)
        error(item.at, "'" + name + "' is used both with and without '@'");
      node.attrs.emplace_back(attr, held->slot);
      continue;
    }
    const Slot hidden = fresh(Sort::quantity, node.domain);
    node.attrs.emplace_back(attr, hidden);
    Check check;
    check.domain = node.domain;
    check.code.form = Code::Form::compare;
    check.code.symbol = "==";
    Code held_code;
    held_code.form = Code::Form::variable;
    held_code.slot = hidden;
    check.code.args.push_back(held_code);
    // Names in it may be bound by later clauses: compiled once all patterns are read.
    deferred_attrs_.push_back({std::move(check), &item.value});
  }
  if (any || e.copy_attrs) return;
  for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
    if (seen.contains(spec.attr) || spec.attr == graph::Attr::momentum) continue;
    const std::string attr(graph::attr_name(spec.attr));
    if (always_present(kind, spec.attr)) {
      error(e.at, e.classes[0] + " says nothing of its attribute " + attr,
            "bind it, or write f:" + e.classes[0] + "{*}(...)");
    }
    if (spec.fallback) {
      node.required.emplace_back(spec.attr, *spec.fallback);
    } else {
      node.absent.push_back(spec.attr);
    }
  }
}

void Compiler::guard(const Expr& e) {
  if (e.form == Expr::Form::infix && e.text == "and") {
    guard(e.args[0]);
    return guard(e.args[1]);
  }
  if (is_guard_on(e, "same")) {
    if (e.args.size() != 1 || member_domain(e.args[0]) < 0)
      error(e.at, "same(...) takes one expression that varies with the members");
    rule_.same.push_back(code(e.args[0]));
    return;
  }
  if (is_guard_on(e, "const")) {
    for (const Expr& arg : e.args) {
      const Slot slot = tensor_argument(arg);
      constant_slots_.insert({slot.domain, slot.index});
      Check check;
      check.domain = slot.domain;
      check.code.form = Code::Form::call;
      check.code.function = Function::is_const;
      check.code.tensors.push_back(slot);
      checks_.push_back({std::move(check)});
    }
    return;
  }
  Check check;
  check.domain = member_domain(e);
  check.code = code(e);
  checks_.push_back({std::move(check)});
}

}  // namespace regraft::rules
