#include "core/rules/compile/op_signature.h"

#include <algorithm>

#include "core/rules/compile/op_names.h"

namespace regraft::rules {

KindSet OpSignature::kinds(const Expr& e) const {
  KindSet kinds;
  for (const std::string& name : e.classes) {
    const KindSet named = kinds_of(name);
    if (named.none()) {
      reporter_.fail(e.at, "unknown operation '" + name + "'",
                     nearest(name, known_op_names(), "use the ONNX name of an op"));
    }
    kinds |= named;
  }
  return kinds;
}

void OpSignature::check_arity(const Expr& e, const KindSet& kinds) const {
  const bool spreads =
      std::any_of(e.args.begin(), e.args.end(), [](const Expr& a) { return a.form == Expr::Form::spread; });
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (!kinds.test(k)) continue;
    const graph::OpInfo& op = graph::op_info(static_cast<graph::OpKind>(k));
    const std::string name(op.name);
    for (std::size_t i = 0; i < std::min<std::size_t>(op.min_inputs, e.args.size()); ++i) {
      const Expr& arg = e.args[i];
      if (arg.form == Expr::Form::name && arg.text == "none" && !scope_.find(arg.text))
        reporter_.fail(arg.at, "operand " + std::to_string(i + 1) + " of " + name + " cannot be left out",
                       "'none' stands for optional ones");
    }
    if (spreads && !op.is(graph::kVariadic))
      reporter_.fail(e.at, name + " takes no list of operands", "remove '...'");
    if (spreads) continue;
    const bool fits =
        e.args.size() >= op.min_inputs && (op.is(graph::kVariadic) || e.args.size() <= op.max_inputs);
    if (fits) continue;
    const std::string most = op.min_inputs == op.max_inputs ? "" : " to " + std::to_string(op.max_inputs);
    reporter_.fail(e.at,
                   name + " takes " + std::to_string(op.min_inputs) + most + " operands, not " +
                       std::to_string(e.args.size()),
                   "give as many; 'none' leaves an optional one out");
  }
}

graph::Attr OpSignature::attr(const Expr& e, graph::OpKind kind, std::size_t position,
                              std::set<graph::Attr>& seen) const {
  const AttrItem& item = e.attrs[position];
  const std::string op(graph::op_info(kind).name);
  const auto attr = item.name.empty() ? attr_at(kind, position) : attr_of(kind, item.name);
  if (!attr && item.name.empty()) {
    reporter_.fail(item.at, op + " takes " + std::to_string(attr_names(kind).size()) + " attributes",
                   "remove this one");
  }
  if (!attr) {
    const auto known = attr_names(kind);
    reporter_.fail(
        item.at, op + " has no attribute '" + item.name + "'",
        nearest(item.name, known, known.empty() ? "it takes none" : "its first is " + std::string(known[0])));
  }
  if (!seen.insert(*attr).second) {
    reporter_.fail(item.at,
                   "attribute " + std::string(graph::attr_name(*attr)) + " of " + op + " is given twice",
                   "give it once");
  }
  const bool list = item.value.form == Expr::Form::list || item.value.form == Expr::Form::comprehension;
  if (list && !takes_list(*attr))
    reporter_.fail(item.at, std::string(graph::attr_name(*attr)) + " is no list", "remove the brackets");
  if (item.value.form == Expr::Form::operation)
    reporter_.fail(item.at, "an operation among the attributes of " + e.text,
                   "write tensors between the parentheses");
  for (const Expr& element : item.value.args) {
    const bool whole = element.form != Expr::Form::real && element.form != Expr::Form::text;
    if (list && !whole)
      reporter_.fail(element.at, std::string(graph::attr_name(*attr)) + " is a list of whole numbers",
                     "write them as 1 or 2");
  }
  return *attr;
}

}
