#include "core/rules/compile/compiler.h"

#include <algorithm>

#include "core/rules/compile/op_names.h"

namespace regraft::rules {

Compiler::Compiler(const RuleText& text, std::string_view file, const Constants& constants)
    : text_(text), file_(file) {
  rule_.frames.resize(1);
  for (const auto& [name, value] : constants) names_[name] = {Sort::constant, {}, value, text.at};
}

CompiledRule Compiler::run() {
  left();
  plan();
  if (pattern_order(rule_).size() < rule_.nodes.size())
    error(text_.left[0].at, "its pattern reads what is made of it",
          "no graph has a cycle: name another operand");
  on_right_ = true;
  right();
  check_kinds(rule_, reporter());
  check_sense();
  find_locality();
  return std::move(rule_);
}

void Compiler::error(Position at, const std::string& what, const std::string& remedy) const {
  fail(file_, at, "rule '" + text_.name + "': " + what, remedy);
}

ReportKind Compiler::reporter() const {
  return [this](Position at, const std::string& what, const std::string& remedy) { error(at, what, remedy); };
}

std::int16_t Compiler::domain_of(const std::string& name) {
  for (std::size_t i = 0; i < rule_.domains.size(); ++i) {
    if (rule_.domains[i].name == name) return static_cast<std::int16_t>(i);
  }
  rule_.domains.push_back({name, false});
  rule_.frames.emplace_back();
  return static_cast<std::int16_t>(rule_.domains.size() - 1);
}

Slot Compiler::fresh(Sort sort, std::int16_t domain) {
  FrameSize& frame = rule_.frames[static_cast<std::size_t>(domain + 1)];
  std::uint16_t& count = sort == Sort::tensor ? frame.tensors
                         : sort == Sort::op   ? frame.ops
                                              : frame.quantities;
  return {domain, count++};
}

const Symbol* Compiler::find(const std::string& name) const {
  if (const auto found = right_names_.find(name); found != right_names_.end()) return &found->second;
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

void Compiler::unknown_name(const Expr& name, std::string_view expected) const {
  std::vector<std::string_view> known;
  for (const auto& [text, symbol] : names_) known.push_back(text);
  for (const auto& [text, symbol] : right_names_) known.push_back(text);
  error(name.at, "'" + name.text + "' is not determined by the left side",
        nearest(name.text, known, "bind it there as " + std::string(expected)));
}

std::int16_t Compiler::member_domain(const Expr& e) {
  std::int16_t found = e.form == Expr::Form::name && e.member ? domain_of(e.domain) : std::int16_t{-1};
  if (e.form == Expr::Form::spread) return -1;
  const auto merge = [&](std::int16_t other, Position at) {
    if (other < 0) return;
    if (found >= 0 && other != found)
      error(at, "an expression over the members of two sets", "spread one with '...'");
    found = other;
  };
  for (const Expr& arg : e.args) merge(member_domain(arg), arg.at);
  for (const AttrItem& item : e.attrs) merge(member_domain(item.value), item.at);
  return found;
}

bool Compiler::is_tensor(const Expr& e) const {
  switch (e.form) {
    case Expr::Form::operation:
      return true;
    case Expr::Form::name: {
      const Symbol* symbol = find(e.text);
      return symbol && symbol->sort == Sort::tensor;
    }
    case Expr::Form::call: {
      const Symbol* symbol = find(e.text);
      return symbol && symbol->sort == Sort::op;
    }
    case Expr::Form::optional:
    case Expr::Form::spread:
      return is_tensor(e.args[0]);
    case Expr::Form::infix:
      return (e.text == "+" || e.text == "-" || e.text == "*" || e.text == "/" || e.text == "??") &&
             (is_tensor(e.args[0]) || is_tensor(e.args[1]));
    default:
      return false;
  }
}

graph::OpKind Compiler::some_kind(const KindSet& kinds) const {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds.test(k)) return static_cast<graph::OpKind>(k);
  }
  return graph::OpKind::opaque;
}

KindSet Compiler::kinds_of_operation(const Expr& e) const {
  KindSet kinds;
  for (const std::string& name : e.classes) {
    const KindSet named = kinds_of(name);
    if (named.none()) {
      error(e.at, "unknown operation '" + name + "'",
            nearest(name, known_op_names(), "use the ONNX name of an op"));
    }
    kinds |= named;
  }
  return kinds;
}

void Compiler::check_arity(const Expr& e, const KindSet& kinds) const {
  const bool spreads =
      std::any_of(e.args.begin(), e.args.end(), [](const Expr& a) { return a.form == Expr::Form::spread; });
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (!kinds.test(k)) continue;
    const graph::OpInfo& op = graph::op_info(static_cast<graph::OpKind>(k));
    const std::string name(op.name);
    for (std::size_t i = 0; i < std::min<std::size_t>(op.min_inputs, e.args.size()); ++i) {
      const Expr& arg = e.args[i];
      if (arg.form == Expr::Form::name && arg.text == "none" && !find(arg.text))
        error(arg.at, "operand " + std::to_string(i + 1) + " of " + name + " cannot be left out",
              "'none' stands for optional ones");
    }
    if (spreads && !op.is(graph::kVariadic)) error(e.at, name + " takes no list of operands", "remove '...'");
    if (spreads) continue;
    const bool fits =
        e.args.size() >= op.min_inputs && (op.is(graph::kVariadic) || e.args.size() <= op.max_inputs);
    if (fits) continue;
    const std::string most = op.min_inputs == op.max_inputs ? "" : " to " + std::to_string(op.max_inputs);
    error(e.at,
          name + " takes " + std::to_string(op.min_inputs) + most + " operands, not " +
              std::to_string(e.args.size()),
          "give as many; 'none' leaves an optional one out");
  }
}

graph::Attr Compiler::attr_of_item(const Expr& e, graph::OpKind kind, const AttrItem& item,
                                   std::size_t position, std::set<graph::Attr>& seen) const {
  const std::string op(graph::op_info(kind).name);
  const auto attr = item.name.empty() ? attr_at(kind, position) : attr_of(kind, item.name);
  if (!attr && item.name.empty()) {
    error(item.at, op + " takes " + std::to_string(attr_names(kind).size()) + " attributes",
          "remove this one");
  }
  if (!attr) {
    const auto known = attr_names(kind);
    error(
        item.at, op + " has no attribute '" + item.name + "'",
        nearest(item.name, known, known.empty() ? "it takes none" : "its first is " + std::string(known[0])));
  }
  if (!seen.insert(*attr).second) {
    error(item.at, "attribute " + std::string(graph::attr_name(*attr)) + " of " + op + " is given twice",
          "give it once");
  }
  const bool integer = item.value.form == Expr::Form::integer;
  const bool list = item.value.form == Expr::Form::list || item.value.form == Expr::Form::comprehension;
  if (list && !takes_list(*attr))
    error(item.at, std::string(graph::attr_name(*attr)) + " is no list", "remove the brackets");
  if (integer && takes_list(*attr) && on_right_) {
    error(item.at, std::string(graph::attr_name(*attr)) + " is a list",
          "write [" + std::to_string(item.value.integer) + "]");
  }
  if (item.value.form == Expr::Form::operation)
    error(item.at, "an operation among the attributes of " + e.text, "write tensors between the parentheses");
  for (const Expr& element : item.value.args) {
    const bool whole = element.form != Expr::Form::real && element.form != Expr::Form::text;
    if (list && !whole)
      error(element.at, std::string(graph::attr_name(*attr)) + " is a list of whole numbers",
            "write them as 1 or 2");
  }
  return *attr;
}

}  // namespace regraft::rules
