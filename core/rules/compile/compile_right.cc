#include <algorithm>

#include "core/rules/compile/compiler.h"
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

void Compiler::right() {
  for (const Clause& clause : text_.right) {
    if (!is_choice(clause.value)) right_clause(clause);
  }
  check_replacements();
  collect_reads();
}

void Compiler::right_clause(const Clause& clause) {
  if (clause.targets.empty()) {
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
      if (!is_interior(i)) roots.push_back(i);
    }
    if (!is_tensor(clause.value)) {
      error(clause.at, "this is no tensor", "guards belong on the left side; bind numbers to names");
    }
    const PatternNode& root = rule_.nodes[roots[0]];
    if (roots.size() != 1 || root.outputs.size() != 1 || root.outputs[0].sequence || root.domain >= 0) {
      error(clause.at, "which root does this replace?", "name it as on the left");
    }
    replace(root.outputs[0].slot, right_tensor(clause.value, -1), clause.at);
    return;
  }
  const std::int16_t domain = clause.targets[0].member && !clause.targets[0].spread
                                  ? domain_of(clause.targets[0].domain)
                                  : std::int16_t{-1};
  const std::int16_t inner = member_domain(clause.value);
  if (inner >= 0 && inner != domain)
    error(clause.at, "the value varies with the members", "mark the name with '@' or spread it with '...'");
  if (!is_tensor(clause.value)) {
    if (clause.targets.size() > 1) error(clause.at, "several names for one value", "write n = value");
    RightStep step;
    step.form = RightStep::Form::let;
    step.domain = domain;
    step.codes.push_back(code(clause.value));
    step.target = fresh(Sort::quantity, domain);
    step.at = clause.at;
    rule_.right.push_back(step);
    const Target& target = clause.targets[0];
    if (find(target.name))
      error(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
    right_names_[target.name] = {Sort::quantity, *step.target, {}, target.at};
    return;
  }
  const bool tuple = clause.targets.size() > 1 || clause.targets[0].spread;
  if (!tuple) return bind_right(clause.targets[0], right_tensor(clause.value, domain));
  if (clause.value.form != Expr::Form::operation)
    error(clause.at, "only an operation has several outputs", "bind it to one name");
  std::vector<Slot> outputs;
  for (const Target& target : clause.targets) {
    if (target.spread && clause.targets.size() > 1)
      error(target.at, "'...' among other outputs", "write (name@...), or a name for each");
    if (target.spread != target.member)
      error(target.at, "a list of outputs is written name@...", "write '@' and '...' both, or neither");
    outputs.push_back(fresh(Sort::tensor, target.member ? domain_of(target.domain) : std::int16_t{-1}));
  }
  right_operation(clause.value, domain, outputs, clause.targets[0].spread);
  for (std::size_t i = 0; i < outputs.size(); ++i) bind_right(clause.targets[i], outputs[i]);
}

void Compiler::replace(Slot before, Slot after, Position at) {
  for (const Replacement& r : rule_.replacements) {
    if (r.before == before)
      error(at, "a second result for one root", "name what is built in between, as in t = Neg(x)");
  }
  rule_.replacements.push_back({before, after});
}

void Compiler::bind_right(const Target& target, Slot slot) {
  if (right_names_.contains(target.name))
    error(target.at, "'" + target.name + "' is bound twice", "give one of them another name");
  if (const auto held = names_.find(target.name); held != names_.end()) {
    const Slot before = held->second.slot;
    const bool leaf = std::find(rule_.leaves.begin(), rule_.leaves.end(), before) != rule_.leaves.end();
    if (held->second.sort != Sort::tensor || leaf) {
      error(target.at, "'" + target.name + "' is an operand of the left side and cannot be replaced",
            "use another name");
    }
    if (before.domain != slot.domain)
      error(target.at, "'" + target.name + "' is used both with and without '@'", "write it as on the left");
    replace(before, slot, target.at);
  }
  right_names_[target.name] = {Sort::tensor, slot, {}, target.at};
}

Slot Compiler::right_tensor(const Expr& e, std::int16_t domain) {
  switch (e.form) {
    case Expr::Form::name: {
      const Symbol* symbol = find(e.text);
      if (!symbol) unknown_name(e, "an operand");
      const Slot slot = tensor_argument(e);
      if (slot.domain >= 0 && slot.domain != domain)
        error(e.at, "'" + e.text + "' varies with the members", "spread it with '...'");
      return slot;
    }
    case Expr::Form::optional:
      return right_tensor(e.args[0], domain);
    case Expr::Form::operation:
      return is_constant_maker(e) ? right_constant(e, domain) : right_operation(e, domain, {}, false);
    case Expr::Form::call: {  // an op variable
      if (!find(e.text)) unknown_name(e, "an operation f:Name(...)");
      return right_operation(e, domain, {}, false);
    }
    case Expr::Form::infix:
      return right_infix(e, domain);
    default:
      error(e.at, "a tensor is expected here", "write a name, an operation, or Full, Values, Int or Ints");
  }
}

Slot Compiler::right_infix(const Expr& e, std::int16_t domain) {
  RightStep step;
  step.at = e.at;
  step.domain = domain;
  if (e.text == "??") {
    step.form = RightStep::Form::first_present;
  } else if (e.text == "+" || e.text == "-" || e.text == "*" || e.text == "/") {
    step.kind = e.text == "+"   ? graph::OpKind::add
                : e.text == "-" ? graph::OpKind::sub
                : e.text == "*" ? graph::OpKind::mul
                                : graph::OpKind::div;
  } else {
    error(e.at, "'" + e.text + "' is not for tensors", "use + - * / or ??, or name the operation");
  }
  for (const Expr& arg : e.args) step.operands.push_back(single_operand(arg, domain));
  step.outputs.push_back(fresh(Sort::tensor, domain));
  rule_.right.push_back(step);
  return step.outputs[0];
}

Slot Compiler::right_constant(const Expr& e, std::int16_t domain) {
  RightStep step;
  step.at = e.at;
  step.domain = domain;
  using Form = RightStep::Form;
  step.form = e.text == "Ints"   ? Form::integers
              : e.text == "Int"  ? Form::integer
              : e.text == "Full" ? Form::full
                                 : Form::values;
  const std::size_t wanted = step.form == Form::full || step.form == Form::values ? 3 : 1;
  if (e.args.size() != wanted) {
    error(e.at, e.text + " takes " + std::to_string(wanted) + " arguments",
          "Ints(list), Int(number), Full(dims, value, like), Values(list, dims, like), where the tensor "
          "'like' gives the dtype");
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(wanted, 2); ++i) step.codes.push_back(code(e.args[i]));
  if (wanted == 3) step.operands.push_back(single_operand(e.args[2], domain));
  step.outputs.push_back(fresh(Sort::tensor, domain));
  rule_.right.push_back(step);
  return step.outputs[0];
}

RightOperand Compiler::right_operand(const Expr& e, std::int16_t domain) {
  RightOperand out;
  if (e.form == Expr::Form::spread) {
    const std::int16_t inner = member_domain(e.args[0]);
    if (inner < 0)
      error(e.at, "'...' over an operand that is the same for all members", "mark what varies with '@'");
    out.slot = right_tensor(e.args[0], inner);
    out.spread = true;
  } else if (e.form == Expr::Form::name && e.text == "none" && !find(e.text)) {
    out.absent = true;
  } else if (is_tensor(e) || e.form == Expr::Form::name) {
    const Symbol* symbol = e.form == Expr::Form::name ? find(e.text) : nullptr;
    const bool number = symbol && symbol->sort != Sort::tensor;
    if (number) {
      out.number = code(e);
    } else {
      out.slot = right_tensor(e, domain);
    }
  } else {
    out.number = code(e);
  }
  return out;
}

RightOperand Compiler::single_operand(const Expr& e, std::int16_t domain) {
  if (e.form == Expr::Form::spread)
    error(e.at, "a list of tensors where one is meant", "name one tensor, without '...'");
  return right_operand(e, domain);
}

Slot Compiler::right_operation(const Expr& e, std::int16_t domain, std::vector<Slot> outputs, bool sequence) {
  RightStep step;
  step.at = e.at;
  step.domain = domain;
  step.sequence_output = sequence;
  if (!e.label.empty() || e.copy_attrs) {
    error(e.at, "names of operations and '*' belong on the left",
          "on the right write f(...), or f{attribute=...}(...)");
  }
  const Symbol* symbol = find(e.text);
  if (symbol && symbol->sort == Sort::op) {
    step.op = symbol->slot;
    for (const PatternNode& node : rule_.nodes) {
      if (node.op != step.op) continue;
      step.kind = some_kind(node.kinds);
      check_arity(e, node.kinds);
    }
  } else {
    if (e.classes.empty()) unknown_name(e, "an operation f:Name(...)");
    const KindSet kinds = kinds_of_operation(e);
    if (kinds.count() > 1)
      error(e.at, "a class of operations on the right", "name it on the left as f:" + e.text + "(...)");
    check_arity(e, kinds);
    step.kind = some_kind(kinds);
  }
  const bool several = graph::op_info(step.kind).is(graph::kMultiOutput);
  if (several != (sequence || outputs.size() > 1)) {
    error(e.at, several ? "Split has several outputs" : "this operation has one output",
          several ? "bind them as (a, b) = Split{...}(x)" : "bind it to one name");
  }
  right_attrs(e, step);
  for (const Expr& arg : e.args) step.operands.push_back(right_operand(arg, domain));
  if (outputs.empty()) outputs.push_back(fresh(Sort::tensor, domain));
  step.outputs = std::move(outputs);
  rule_.right.push_back(step);
  return step.outputs[0];
}

void Compiler::right_attrs(const Expr& e, RightStep& step) {
  std::set<graph::Attr> seen;
  for (std::size_t i = 0; i < e.attrs.size(); ++i) {
    const AttrItem& item = e.attrs[i];
    if (item.compare) error(item.at, "a comparison on the right", "write '='");
    const graph::Attr attr = attr_of_item(e, step.kind, item, i, seen);
    step.attrs.emplace_back(attr, code(item.value));
  }
  if (step.op) return;
  for (const graph::AttrSpec& spec : graph::op_info(step.kind).attrs) {
    if (seen.contains(spec.attr) || spec.fallback || spec.optional) continue;
    error(e.at, e.text + " needs its attribute " + std::string(graph::attr_name(spec.attr)),
          "write " + e.text + "{" + std::string(graph::attr_name(spec.attr)) + "=...}");
  }
}

void Compiler::check_replacements() {
  for (std::size_t i = 0; i < rule_.nodes.size(); ++i) {
    if (is_interior(i)) continue;
    for (const OperandPattern& output : rule_.nodes[i].outputs) {
      const bool given = std::any_of(rule_.replacements.begin(), rule_.replacements.end(),
                                     [&](const Replacement& r) { return r.before == output.slot; });
      if (given) continue;
      std::string name = "the root";
      for (const auto& [text, symbol] : names_) {
        if (symbol.sort == Sort::tensor && symbol.slot == output.slot) name = "'" + text + "'";
      }
      error(rule_.nodes[i].at, name + " is not given on the right side", "write what replaces it");
    }
  }
}

void Compiler::collect_reads() {
  std::vector<Slot> made;
  for (const RightStep& step : rule_.right) made.insert(made.end(), step.outputs.begin(), step.outputs.end());
  const auto add = [&](Slot slot, Position at) {
    const bool on_left = std::find(made.begin(), made.end(), slot) == made.end();
    if (!on_left || std::find(rule_.reads.begin(), rule_.reads.end(), slot) != rule_.reads.end()) return;
    for (const Replacement& r : rule_.replacements) {
      if (r.before == slot)
        error(at, "the right side reads a value that it replaces", "read what the left side made it from");
    }
    rule_.reads.push_back(slot);
  };
  for (const RightStep& step : rule_.right) {
    for (const RightOperand& operand : step.operands) {
      if (operand.slot) add(*operand.slot, step.at);
    }
  }
  for (const Replacement& r : rule_.replacements) add(r.after, text_.at);
  // A lone root is computed from its operands, which therefore do not depend on it; so are the roots of
  // siblings that have all their activations in common.
  const bool by_producers = std::all_of(rule_.steps.begin(), rule_.steps.end(),
                                        [](const Step& s) { return s.via != Step::Via::consumer; });
  const auto is_activation = [&](Slot slot) { return !constant_slots_.contains({slot.domain, slot.index}); };
  const bool all_shared = std::all_of(rule_.reads.begin(), rule_.reads.end(),
                                      [&](Slot slot) { return !is_activation(slot) || slot.domain < 0; });
  rule_.always_acyclic =
      by_producers && rule_.replacements.size() == 1 && (rule_.is_siblings() ? all_shared : true);
}

}  // namespace regraft::rules
