#include "core/rules/compile/pattern_compiler.h"

#include "core/graph/opaque_work.h"
#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

bool is_guard_on(const Expr& e, std::string_view function) {
  return e.form == Expr::Form::call && e.text == function;
}

// No rewrite makes such ops, so they have no labels.
bool names_opaque(const Expr& e) {
  return e.classes.size() == 1 && e.label.empty() && kinds_of(e.classes[0]).none() &&
         graph::opaque_op(e.classes[0]);
}

}  // namespace

PatternConditions PatternCompiler::compile(const RuleText& text) {
  declare_values(text);
  for (const Clause& clause : text.left) {
    if (clause.value.form == Expr::Form::operation) compile_root(clause);
  }
  if (rule_.nodes.empty())
    reporter_.fail("the left side has no operation", "a pattern is Name{attributes}(operands)");
  for (const Clause& clause : text.left) {
    if (clause.value.form != Expr::Form::operation) compile_clause(clause);
  }
  attributes_.compile_comparisons();
  return std::move(conditions_);
}

// Names bound by 'n = expression' on the left are never bound by an attribute.
void PatternCompiler::declare_values(const RuleText& text) {
  for (const Clause& clause : text.left) {
    if (clause.targets.empty() || clause.value.form == Expr::Form::operation) continue;
    if (clause.targets.size() > 1)
      reporter_.fail(clause.at, "several names for one value", "write n = value");
    const Target& target = clause.targets[0];
    if (scope_.find(target.name)) {
      reporter_.fail(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
    }
    attributes_.never_bind(target.name);
    scope_.bind(target.name,
                {Sort::quantity,
                 scope_.fresh(Sort::quantity, scope_.member_set_named(target.member, target.member_set)),
                 {}});
  }
}

void PatternCompiler::compile_clause(const Clause& clause) {
  if (clause.targets.empty()) return guard(clause.value);
  Check check;
  check.target = scope_.find(clause.targets[0].name)->slot;
  check.member_set = check.target->member_set;
  const std::int16_t inner = scope_.member_set_of(clause.value);
  if (inner >= 0 && inner != check.member_set) {
    reporter_.fail(clause.at, "'" + clause.targets[0].name + "' varies with the members",
                   "write " + clause.targets[0].name + "@");
  }
  check.code = expressions_.compile(clause.value);
  conditions_.checks.push_back(std::move(check));
}

void PatternCompiler::compile_root(const Clause& clause) {
  std::vector<OperandPattern> outputs;
  std::int16_t member_set = scope_.member_set_of(clause.value);
  for (const Target& target : clause.targets) {
    const Symbol* known = scope_.find(target.name);
    if (known && known->sort != Sort::tensor)
      reporter_.fail(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
    OperandPattern output;
    output.slot = scope_.tensor(target.name, target.member, target.member_set, target.at);
    output.sequence = target.spread;
    if (target.spread && !target.member)
      reporter_.fail(target.at, "'...' after a name without '@'", "write " + target.name + "@...");
    if (target.member && !target.spread) {
      if (member_set >= 0 && member_set != output.slot.member_set)
        reporter_.fail(target.at, "members of two sets", "write two rules");
      member_set = output.slot.member_set;
    }
    if (!target.member && member_set >= 0) {
      reporter_.fail(target.at, "'" + target.name + "' varies with the members",
                     "write " + target.name + "@");
    }
    outputs.push_back(output);
  }
  if (clause.targets.empty()) {
    if (has_unnamed_root_)
      reporter_.fail(clause.at, "a second pattern without a name", "name them as in a = Relu(x)");
    has_unnamed_root_ = true;
    outputs.push_back({scope_.fresh(Sort::tensor, member_set)});
  }
  refuse_two_makers(outputs, clause.at);
  compile_node(clause.value, member_set, std::move(outputs));
}

void PatternCompiler::refuse_two_makers(const std::vector<OperandPattern>& outputs, Position at) const {
  for (const PatternNode& node : rule_.nodes) {
    for (const OperandPattern& made : node.outputs) {
      for (const OperandPattern& output : outputs) {
        if (made.slot == output.slot)
          reporter_.fail(at, "a name is bound to two operations", "give one of them another name");
      }
    }
  }
}

void PatternCompiler::compile_node(const Expr& e, std::int16_t member_set,
                                   std::vector<OperandPattern> outputs) {
  PatternNode node;
  node.at = e.at;
  node.member_set = member_set;
  node.outputs = std::move(outputs);
  if (e.classes.empty())
    reporter_.fail(e.at, "'" + e.text + "' is no operation", "names of operations begin with a capital");
  const bool opaque = names_opaque(e);
  node.kinds = opaque ? KindSet().set(static_cast<std::size_t>(graph::OpKind::opaque)) : signature_.kinds(e);
  signature_.check_arity(e, node.kinds);
  const graph::OpInfo& op = graph::op_info(some_kind(node.kinds));
  if (opaque) node.required.emplace_back(graph::Attr::op_type, e.classes[0]);
  if (!opaque && !op.is(graph::kMultiOutput) && (node.outputs.size() > 1 || node.outputs[0].sequence)) {
    reporter_.fail(e.at, std::string(op.name) + " has one output", "bind it to one name");
  }
  if (graph::is_recurrence(op.kind) && node.outputs.size() != graph::output_count(op.kind, {}))
    reporter_.fail(
        e.at, std::string(op.name) + " has " + std::to_string(graph::output_count(op.kind, {})) + " outputs",
        "bind each to a name");
  node.commutative =
      e.args.size() == 2 && op.is(graph::kCommutative) && !op.is(graph::kVariadic) && node.kinds.count() == 1;
  node.index = rule_.frames[static_cast<std::size_t>(member_set + 1)].nodes++;
  compile_label(e, node);
  attributes_.compile(e, node);
  const std::size_t position = rule_.nodes.size();
  rule_.nodes.push_back(node);
  for (const Expr& arg : e.args) {
    OperandPattern operand_pattern = operand(arg, member_set);
    rule_.nodes[position].operands.push_back(operand_pattern);
  }
}

void PatternCompiler::compile_label(const Expr& e, PatternNode& node) {
  if (e.label.empty()) {
    if (node.kinds.count() > 1)
      reporter_.fail(e.at, "a class of operations needs a name", "write f:" + e.classes[0] + "(...)");
    if (e.copy_attrs)
      reporter_.fail(e.at, "'*' without a name is lost on the right", "write f:" + e.classes[0] + "{*}(...)");
    return;
  }
  const Symbol* held = scope_.find(e.label);
  if (held && held->sort != Sort::op)
    reporter_.fail(e.at, "'" + e.label + "' is an operation here and something else before",
                   "give one of them another name");
  if (!held) {
    scope_.bind(e.label, {Sort::op, scope_.fresh(Sort::op, -1), {}});
    held = scope_.find(e.label);
  }
  node.op = held->slot;
}

OperandPattern PatternCompiler::operand(const Expr& e, std::int16_t member_set) {
  switch (e.form) {
    case Expr::Form::name:
      return {scope_.tensor(e.text, e.member, e.member_set, e.at)};
    case Expr::Form::optional: {
      if (e.args[0].form != Expr::Form::name)
        reporter_.fail(e.at, "only a named operand can be optional", "write name?");
      OperandPattern out = operand(e.args[0], member_set);
      out.optional = true;
      return out;
    }
    case Expr::Form::spread: {
      if (member_set >= 0) reporter_.fail(e.at, "a list of operands within a member", "sets do not nest");
      const std::int16_t inner = scope_.member_set_of(e.args[0]);
      if (inner < 0)
        reporter_.fail(e.at, "'...' over an operand that is the same for all members",
                       "mark what varies with '@'");
      OperandPattern out = operand(e.args[0], inner);
      out.sequence = true;
      return out;
    }
    case Expr::Form::operation: {
      const std::int16_t inner = scope_.member_set_of(e);
      if (inner >= 0 && member_set >= 0 && inner != member_set)
        reporter_.fail(e.at, "members of two sets", "write two rules");
      const Slot slot = scope_.fresh(Sort::tensor, inner);
      compile_node(e, inner, {OperandPattern{slot}});
      return {slot};
    }
    case Expr::Form::integer:
    case Expr::Form::real:
      return literal_operand(e, e.real, member_set);
    case Expr::Form::prefix:
      if (e.text == "-" && (e.args[0].form == Expr::Form::integer || e.args[0].form == Expr::Form::real)) {
        return literal_operand(e, -e.args[0].real, member_set);
      }
      [[fallthrough]];
    default:
      reporter_.fail(e.at, "an operand on the left is a name, a number or an operation",
                     "test it by a guard");
  }
}

OperandPattern PatternCompiler::literal_operand(const Expr& e, double value, std::int16_t member_set) {
  const OperandPattern out{scope_.fresh(Sort::tensor, member_set)};
  Check check;
  check.member_set = member_set;
  Code held = Code::make(Code::Form::call, {});
  held.function = Function::value;
  held.tensors.push_back(out.slot);
  check.code =
      Code::make(Code::Form::compare, e.at, {std::move(held), Code::of(Quantity::of(value), {})}, "==");
  conditions_.checks.push_back(std::move(check));
  conditions_.constants.insert(out.slot);
  return out;
}

void PatternCompiler::guard(const Expr& e) {
  if (e.form == Expr::Form::infix && e.text == "and") {
    guard(e.args[0]);
    return guard(e.args[1]);
  }
  if (is_guard_on(e, "same") || is_guard_on(e, "sort")) {
    if (e.args.size() != 1 || scope_.member_set_of(e.args[0]) < 0) {
      reporter_.fail(e.at, e.text + "(...) takes one expression that varies with the members",
                     "as in " + e.text + "(w@.0)");
    }
    (e.text == "same" ? rule_.same : rule_.order).push_back(expressions_.compile(e.args[0]));
    return;
  }
  if (is_guard_on(e, "const")) {
    for (const Expr& arg : e.args) {
      const Slot slot = scope_.known_tensor(arg);
      conditions_.constants.insert(slot);
      Check check;
      check.member_set = slot.member_set;
      check.code.form = Code::Form::call;
      check.code.function = Function::is_const;
      check.code.tensors.push_back(slot);
      conditions_.checks.push_back(std::move(check));
    }
    return;
  }
  Check check;
  check.member_set = scope_.member_set_of(e);
  check.code = expressions_.compile(e);
  conditions_.checks.push_back(std::move(check));
}

}
