#include <algorithm>

#include "core/rules/compile/compiler.h"

namespace regraft::rules {
namespace {

bool is_guard_on(const Expr& e, std::string_view function) {
  return e.form == Expr::Form::call && e.text == function;
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
    if (clause.targets.size() > 1) error(clause.at, "several names for one value", "write n = value");
    const Target& target = clause.targets[0];
    if (!let_names_.insert(target.name).second || names_.contains(target.name)) {
      error(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
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
    if (known && known->sort != Sort::tensor)
      error(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
    OperandPattern output;
    output.slot = declare_tensor(target.name, target.member, target.domain, target.at);
    output.sequence = target.spread;
    if (target.spread && !target.member)
      error(target.at, "'...' after a name without '@'", "write " + target.name + "@...");
    if (target.member && !target.spread) {
      if (domain >= 0 && domain != output.slot.domain)
        error(target.at, "members of two sets", "write two rules");
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
        if (made.slot == output.slot)
          error(clause.at, "a name is bound to two operations", "give one of them another name");
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
    error(e.at, std::string(op.name) + " has one output", "bind it to one name");
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
      if (e.args[0].form != Expr::Form::name)
        error(e.at, "only a named operand can be optional", "write name?");
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
      if (inner >= 0 && domain >= 0 && inner != domain) error(e.at, "members of two sets", "write two rules");
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
      error(e.at, "an operand on the left is a name, a number or an operation", "test it by a guard");
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
    if (held->sort != Sort::tensor)
      error(at, "'" + name + "' is a tensor here and something else before", "give one of them another name");
    const bool same =
        (held->slot.domain >= 0) == member && (!member || held->slot.domain == domain_of(domain));
    if (!same)
      error(at, "'" + name + "' is used both with and without '@', or for two sets",
            "write it the same way everywhere");
    return held->slot;
  }
  const Slot slot = fresh(Sort::tensor, member ? domain_of(domain) : std::int16_t{-1});
  names_[name] = {Sort::tensor, slot, {}, at};
  return slot;
}

void Compiler::guard(const Expr& e) {
  if (e.form == Expr::Form::infix && e.text == "and") {
    guard(e.args[0]);
    return guard(e.args[1]);
  }
  if (is_guard_on(e, "same") || is_guard_on(e, "sort")) {
    if (e.args.size() != 1 || member_domain(e.args[0]) < 0) {
      error(e.at, e.text + "(...) takes one expression that varies with the members",
            "as in " + e.text + "(w@.0)");
    }
    (e.text == "same" ? rule_.same : rule_.order).push_back(code(e.args[0]));
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
