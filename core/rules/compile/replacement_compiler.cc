#include "core/rules/compile/replacement_compiler.h"

#include <algorithm>

#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

bool is_choice(const Expr& e) {
  return e.form == Expr::Form::infix && e.text == "in" && e.args[1].form == Expr::Form::set;
}

bool is_constant_maker(const Expr& e) {
  return e.form == Expr::Form::operation &&
         (e.text == "Ints" || e.text == "Int" || e.text == "Full" || e.text == "Values");
}

}  // namespace

void ReplacementCompiler::compile(const RuleText& text) {
  for (const Clause& clause : text.right) {
    if (!is_choice(clause.value)) compile_clause(clause);
  }
  check_replacements();
  collect_reads(text.at);
  rule_.always_acyclic = never_makes_cycle();
}

void ReplacementCompiler::compile_clause(const Clause& clause) {
  if (clause.targets.empty()) return compile_sole_root(clause);
  const Target& target = clause.targets[0];
  const std::int16_t member_set = scope_.member_set_named(target.member && !target.spread, target.member_set);
  const std::int16_t inner = scope_.member_set_of(clause.value);
  if (inner >= 0 && inner != member_set)
    reporter_.fail(clause.at, "the value varies with the members",
                   "mark the name with '@' or spread it with '...'");
  if (!scope_.is_tensor(clause.value)) return compile_let(clause, member_set);
  if (clause.targets.size() > 1 || target.spread) return compile_outputs(clause, member_set);
  bind(target, tensor(clause.value, member_set));
}

void ReplacementCompiler::compile_sole_root(const Clause& clause) {
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    if (!is_interior(rule_, i)) roots.push_back(i);
  }
  if (!scope_.is_tensor(clause.value)) {
    reporter_.fail(clause.at, "this is no tensor", "guards belong on the left side; bind numbers to names");
  }
  const PatternNode& root = rule_.nodes[roots[0]];
  if (roots.size() != 1 || root.outputs.size() != 1 || root.outputs[0].sequence || root.member_set >= 0) {
    reporter_.fail(clause.at, "which root does this replace?", "name it as on the left");
  }
  replace(root.outputs[0].slot, tensor(clause.value, -1), clause.at);
}

void ReplacementCompiler::compile_let(const Clause& clause, std::int16_t member_set) {
  if (clause.targets.size() > 1) reporter_.fail(clause.at, "several names for one value", "write n = value");
  RightStep step;
  step.form = RightStep::Form::let;
  step.member_set = member_set;
  step.codes.push_back(expressions_.compile(clause.value));
  step.target = scope_.fresh(Sort::quantity, member_set);
  step.at = clause.at;
  rule_.right.push_back(step);
  const Target& target = clause.targets[0];
  if (scope_.find(target.name))
    reporter_.fail(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
  scope_.bind(target.name, {Sort::quantity, *step.target, {}});
}

void ReplacementCompiler::compile_outputs(const Clause& clause, std::int16_t member_set) {
  if (clause.value.form != Expr::Form::operation)
    reporter_.fail(clause.at, "only an operation has several outputs", "bind it to one name");
  std::vector<Slot> outputs;
  for (const Target& target : clause.targets) {
    if (target.spread && clause.targets.size() > 1)
      reporter_.fail(target.at, "'...' among other outputs", "write (name@...), or a name for each");
    if (target.spread != target.member)
      reporter_.fail(target.at, "a list of outputs is written name@...",
                     "write '@' and '...' both, or neither");
    outputs.push_back(scope_.fresh(Sort::tensor, scope_.member_set_named(target.member, target.member_set)));
  }
  operation(clause.value, member_set, outputs, clause.targets[0].spread);
  for (std::size_t i = 0; i < outputs.size(); ++i) bind(clause.targets[i], outputs[i]);
}

void ReplacementCompiler::replace(Slot before, Slot after, Position at) {
  for (const Replacement& r : rule_.replacements) {
    if (r.before == before)
      reporter_.fail(at, "a second result for one root", "name what is built in between, as in t = Neg(x)");
  }
  rule_.replacements.push_back({before, after});
}

void ReplacementCompiler::bind(const Target& target, Slot slot) {
  if (scope_.find_own(target.name))
    reporter_.fail(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
  if (const Symbol* held = left_.find(target.name)) {
    const Slot before = held->slot;
    const bool leaf = std::find(rule_.leaves.begin(), rule_.leaves.end(), before) != rule_.leaves.end();
    if (held->sort != Sort::tensor || leaf) {
      reporter_.fail(target.at, "'" + target.name + "' is an operand of the left side and cannot be replaced",
                     "use another name");
    }
    if (before.member_set != slot.member_set)
      reporter_.fail(target.at, "'" + target.name + "' is used both with and without '@'",
                     "write it as on the left");
    replace(before, slot, target.at);
  }
  scope_.bind(target.name, {Sort::tensor, slot, {}});
}

Slot ReplacementCompiler::tensor(const Expr& e, std::int16_t member_set) {
  switch (e.form) {
    case Expr::Form::name: {
      const Symbol* symbol = scope_.find(e.text);
      if (!symbol) scope_.unknown_name(e, "an operand");
      const Slot slot = scope_.known_tensor(e);
      if (slot.member_set >= 0 && slot.member_set != member_set)
        reporter_.fail(e.at, "'" + e.text + "' varies with the members", "spread it with '...'");
      return slot;
    }
    case Expr::Form::optional:
      return tensor(e.args[0], member_set);
    case Expr::Form::operation:
      return is_constant_maker(e) ? constant(e, member_set) : operation(e, member_set, {}, false);
    case Expr::Form::call: {  // an op variable
      if (!scope_.find(e.text)) scope_.unknown_name(e, "an operation f:Name(...)");
      return operation(e, member_set, {}, false);
    }
    case Expr::Form::infix:
      return infix(e, member_set);
    default:
      reporter_.fail(e.at, "a tensor is expected here",
                     "write a name, an operation, or Full, Values, Int or Ints");
  }
}

Slot ReplacementCompiler::infix(const Expr& e, std::int16_t member_set) {
  RightStep step;
  step.at = e.at;
  step.member_set = member_set;
  if (e.text == "??") {
    step.form = RightStep::Form::first_present;
  } else if (e.text == "+" || e.text == "-" || e.text == "*" || e.text == "/") {
    step.kind = e.text == "+"   ? graph::OpKind::add
                : e.text == "-" ? graph::OpKind::sub
                : e.text == "*" ? graph::OpKind::mul
                                : graph::OpKind::div;
  } else {
    reporter_.fail(e.at, "'" + e.text + "' is not for tensors", "use + - * / or ??, or name the operation");
  }
  for (const Expr& arg : e.args) step.operands.push_back(single_operand(arg, member_set));
  step.outputs.push_back(scope_.fresh(Sort::tensor, member_set));
  rule_.right.push_back(step);
  return step.outputs[0];
}

Slot ReplacementCompiler::constant(const Expr& e, std::int16_t member_set) {
  RightStep step;
  step.at = e.at;
  step.member_set = member_set;
  using Form = RightStep::Form;
  step.form = e.text == "Ints"   ? Form::integers
              : e.text == "Int"  ? Form::integer
              : e.text == "Full" ? Form::full
                                 : Form::values;
  const std::size_t wanted = step.form == Form::full || step.form == Form::values ? 3 : 1;
  if (e.args.size() != wanted) {
    reporter_.fail(
        e.at, e.text + " takes " + std::to_string(wanted) + " arguments",
        "Ints(list), Int(number), Full(dims, value, like), Values(list, dims, like), where the tensor "
        "'like' gives the dtype");
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(wanted, 2); ++i)
    step.codes.push_back(expressions_.compile(e.args[i]));
  if (wanted == 3) step.operands.push_back(single_operand(e.args[2], member_set));
  step.outputs.push_back(scope_.fresh(Sort::tensor, member_set));
  rule_.right.push_back(step);
  return step.outputs[0];
}

RightOperand ReplacementCompiler::operand(const Expr& e, std::int16_t member_set) {
  RightOperand out;
  if (e.form == Expr::Form::spread) {
    const std::int16_t inner = scope_.member_set_of(e.args[0]);
    if (inner < 0)
      reporter_.fail(e.at, "'...' over an operand that is the same for all members",
                     "mark what varies with '@'");
    out.slot = tensor(e.args[0], inner);
    out.spread = true;
  } else if (e.form == Expr::Form::name && e.text == "none" && !scope_.find(e.text)) {
    out.absent = true;
  } else if (scope_.is_tensor(e) || e.form == Expr::Form::name) {
    const Symbol* symbol = e.form == Expr::Form::name ? scope_.find(e.text) : nullptr;
    const bool number = symbol && symbol->sort != Sort::tensor;
    if (number) {
      out.number = expressions_.compile(e);
    } else {
      out.slot = tensor(e, member_set);
    }
  } else {
    out.number = expressions_.compile(e);
  }
  return out;
}

RightOperand ReplacementCompiler::single_operand(const Expr& e, std::int16_t member_set) {
  if (e.form == Expr::Form::spread)
    reporter_.fail(e.at, "a list of tensors where one is meant", "name one tensor, without '...'");
  return operand(e, member_set);
}

Slot ReplacementCompiler::operation(const Expr& e, std::int16_t member_set, std::vector<Slot> outputs,
                                    bool sequence) {
  RightStep step;
  step.at = e.at;
  step.member_set = member_set;
  step.sequence_output = sequence;
  if (!e.label.empty() || e.copy_attrs) {
    reporter_.fail(e.at, "names of operations and '*' belong on the left",
                   "on the right write f(...), or f{attribute=...}(...)");
  }
  const Symbol* symbol = scope_.find(e.text);
  if (symbol && symbol->sort == Sort::op) {
    step.op = symbol->slot;
    for (const PatternNode& node : rule_.nodes) {
      if (node.op != step.op) continue;
      step.kind = some_kind(node.kinds);
      signature_.check_arity(e, node.kinds);
    }
  } else {
    if (e.classes.empty()) scope_.unknown_name(e, "an operation f:Name(...)");
    const KindSet kinds = signature_.kinds(e);
    if (kinds.count() > 1)
      reporter_.fail(e.at, "a class of operations on the right",
                     "name it on the left as f:" + e.text + "(...)");
    signature_.check_arity(e, kinds);
    step.kind = some_kind(kinds);
  }
  const bool several = graph::op_info(step.kind).is(graph::kMultiOutput);
  if (several != (sequence || outputs.size() > 1)) {
    reporter_.fail(e.at, several ? e.text + " has several outputs" : "this operation has one output",
                   several ? "bind them as (a, b) = " + e.text + "(...)" : "bind it to one name");
  }
  attributes(e, step);
  for (const Expr& arg : e.args) step.operands.push_back(operand(arg, member_set));
  if (outputs.empty()) outputs.push_back(scope_.fresh(Sort::tensor, member_set));
  step.outputs = std::move(outputs);
  rule_.right.push_back(step);
  return step.outputs[0];
}

void ReplacementCompiler::attributes(const Expr& e, RightStep& step) {
  std::set<graph::Attr> seen;
  for (std::size_t i = 0; i < e.attrs.size(); ++i) {
    const AttrItem& item = e.attrs[i];
    if (item.compare) reporter_.fail(item.at, "a comparison on the right", "write '='");
    const graph::Attr attr = signature_.attr(e, step.kind, i, seen);
    if (item.value.form == Expr::Form::integer && takes_list(attr)) {
      reporter_.fail(item.at, std::string(graph::attr_name(attr)) + " is a list",
                     "write [" + std::to_string(item.value.integer) + "]");
    }
    step.attrs.emplace_back(attr, expressions_.compile(item.value));
  }
  if (step.op) return;
  for (const graph::AttrSpec& spec : graph::op_info(step.kind).attrs) {
    if (seen.contains(spec.attr) || spec.fallback || spec.optional) continue;
    reporter_.fail(e.at, e.text + " needs its attribute " + std::string(graph::attr_name(spec.attr)),
                   "write " + e.text + "{" + std::string(graph::attr_name(spec.attr)) + "=...}");
  }
}

void ReplacementCompiler::check_replacements() const {
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    if (is_interior(rule_, i)) continue;
    for (const OperandPattern& output : rule_.nodes[i].outputs) {
      const bool given = std::any_of(rule_.replacements.begin(), rule_.replacements.end(),
                                     [&](const Replacement& r) { return r.before == output.slot; });
      if (given) continue;
      const auto name = left_.name_of(output.slot);
      reporter_.fail(rule_.nodes[i].at,
                     (name ? "'" + *name + "'" : "the root") + " is not given on the right side",
                     "write what replaces it");
    }
  }
}

void ReplacementCompiler::collect_reads(Position at) {
  std::vector<Slot> made;
  for (const RightStep& step : rule_.right) made.insert(made.end(), step.outputs.begin(), step.outputs.end());
  const auto add = [&](Slot slot, Position place) {
    const bool on_left = std::find(made.begin(), made.end(), slot) == made.end();
    if (!on_left || std::find(rule_.reads.begin(), rule_.reads.end(), slot) != rule_.reads.end()) return;
    for (const Replacement& r : rule_.replacements) {
      if (r.before == slot)
        reporter_.fail(place, "the right side reads a value that it replaces",
                       "read what the left side made it from");
    }
    rule_.reads.push_back(slot);
  };
  for (const RightStep& step : rule_.right) {
    for (const RightOperand& operand : step.operands) {
      if (operand.slot) add(*operand.slot, step.at);
    }
  }
  for (const Replacement& r : rule_.replacements) add(r.after, at);
}

// A lone root is computed from its operands, which therefore do not depend on it; so are the roots of
// siblings that have all their activations in common.
bool ReplacementCompiler::never_makes_cycle() const {
  const bool by_producers = std::all_of(rule_.steps.begin(), rule_.steps.end(),
                                        [](const Step& s) { return s.via != Step::Via::consumer; });
  const bool all_shared = std::all_of(rule_.reads.begin(), rule_.reads.end(), [&](Slot slot) {
    return constants_.contains(slot) || slot.member_set < 0;
  });
  return by_producers && rule_.replacements.size() == 1 && (!rule_.is_siblings() || all_shared);
}

}
