#include "core/rules/compile/expression_compiler.h"

#include <array>

namespace regraft::rules {
namespace {

using Form = Code::Form;

struct FunctionRow {
  std::string_view name;
  Function function;
  std::uint8_t min_args, max_args;  // 255: any number
  bool of_tensors;
};

constexpr std::array<FunctionRow, 27> kFunctions = {{
    {"rank", Function::rank, 1, 1, true},
    {"dims", Function::dims, 1, 1, true},
    {"size", Function::size, 1, 1, true},
    {"dtype", Function::dtype, 1, 1, true},
    {"type", Function::type, 1, 1, true},
    {"const", Function::is_const, 1, 255, true},
    {"scalar", Function::scalar, 1, 255, true},
    {"value", Function::value, 1, 1, true},
    {"uses", Function::uses, 1, 1, true},
    {"output", Function::output, 1, 1, true},
    {"present", Function::present, 1, 1, true},
    {"float", Function::floating, 1, 255, true},
    {"ints", Function::ints, 1, 1, true},
    {"len", Function::len, 1, 1, false},
    {"sum", Function::sum, 1, 1, false},
    {"prod", Function::prod, 1, 1, false},
    {"max", Function::max, 1, 2, false},
    {"min", Function::min, 1, 2, false},
    {"reverse", Function::reverse, 1, 1, false},
    {"range", Function::range, 1, 2, false},
    {"invert", Function::invert, 1, 1, false},
    {"permute", Function::permute, 2, 2, false},
    {"remove", Function::remove, 2, 2, false},
    {"insert", Function::insert, 3, 3, false},
    {"set", Function::set, 3, 3, false},
    {"position", Function::position, 2, 2, false},
    {"permutation", Function::permutation, 1, 1, false},
}};

constexpr std::array<std::pair<std::string_view, graph::DType>, 8> kDTypes = {
    {{"float32", graph::DType::float32},
     {"float16", graph::DType::float16},
     {"float64", graph::DType::float64},
     {"bfloat16", graph::DType::bfloat16},
     {"int32", graph::DType::int32},
     {"int64", graph::DType::int64},
     {"uint8", graph::DType::uint8},
     {"bool", graph::DType::boolean}}};

}  // namespace

Code ExpressionCompiler::compile(const Expr& e) {
  switch (e.form) {
    case Expr::Form::integer:
      return Code::of(Quantity::of(e.integer), e.at);
    case Expr::Form::real:
      return Code::of(Quantity::of(e.real), e.at);
    case Expr::Form::text:
      return Code::of(Quantity::of(e.text), e.at);
    case Expr::Form::name:
      return name(e);
    case Expr::Form::list:
      return Code::make(Form::list, e.at, compile_all(e.args));
    case Expr::Form::call:
      return call(e);
    case Expr::Form::infix:
      return infix(e);
    case Expr::Form::prefix:
      return Code::make(e.text == "not" ? Form::negation : Form::minus, e.at, compile_all(e.args));
    case Expr::Form::parity:
      return Code::make(e.text == "odd" ? Form::odd : Form::even, e.at, compile_all(e.args));
    case Expr::Form::dim: {
      Code c = Code::make(Form::dim, e.at, {compile(e.args[1])});
      c.tensors.push_back(scope_.known_tensor(e.args[0]));
      return c;
    }
    case Expr::Form::index:
      return Code::make(Form::index, e.at, compile_all(e.args));
    case Expr::Form::slice:
      return Code::make(Form::slice, e.at, compile_all(e.args));
    case Expr::Form::conditional:
      return Code::make(Form::conditional, e.at, compile_all(e.args));
    case Expr::Form::comprehension:
      return comprehension(e);
    case Expr::Form::spread:
      return spread(e);
    case Expr::Form::none:
    case Expr::Form::set:
    case Expr::Form::operation:
    case Expr::Form::optional:
      break;
  }
  reporter_.fail(e.at, "a number, list or condition is expected here",
                 "name tensors in patterns, and use their dims here");
}

std::vector<Code> ExpressionCompiler::compile_all(const std::vector<Expr>& list) {
  std::vector<Code> out;
  for (const Expr& e : list) out.push_back(e.form == Expr::Form::none ? Code{} : compile(e));
  return out;
}

Code ExpressionCompiler::name(const Expr& e) {
  if (e.text == "index" && e.member) {
    Code c = Code::make(Form::member_index, e.at);
    c.member_set = scope_.member_set_named(e.member_set);
    return c;
  }
  if (e.text == "count" && e.member) {
    Code c = Code::make(Form::member_count, e.at);
    c.member_set = scope_.member_set_named(e.member_set);
    return c;
  }
  const Symbol* symbol = scope_.find(e.text);
  if (!symbol) {
    for (const auto& [name, dtype] : kDTypes) {
      if (name == e.text) return Code::of(Quantity::of(static_cast<std::int64_t>(dtype)), e.at);
    }
    if (e.text == "true" || e.text == "false") return Code::of(Quantity::of(e.text == "true"), e.at);
    scope_.unknown_name(e, "an attribute");
  }
  if (symbol->sort == Sort::constant) return Code::of(symbol->constant, e.at);
  if (symbol->sort != Sort::quantity) {
    reporter_.fail(e.at, "'" + e.text + "' is a tensor, not a number",
                   "use its dims, as in " + e.text + ".0, or rank(" + e.text + ")");
  }
  if ((symbol->slot.member_set >= 0) != e.member) {
    reporter_.fail(e.at,
                   e.member ? "'" + e.text + "' is the same for all members"
                            : "'" + e.text + "' has one value for each member",
                   e.member ? "remove '@'" : "write " + e.text + "@");
  }
  Code c = Code::make(Form::variable, e.at);
  c.slot = symbol->slot;
  return c;
}

Code ExpressionCompiler::call(const Expr& e) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name != e.text) continue;
    if (e.args.size() < row.min_args || (row.max_args != 255 && e.args.size() > row.max_args)) {
      reporter_.fail(e.at,
                     "'" + e.text + "' takes " + std::to_string(row.min_args) +
                         (row.max_args == row.min_args ? "" : " or more") + " arguments, not " +
                         std::to_string(e.args.size()),
                     "see launch/docs/rule-language.md");
    }
    Code c = Code::make(Form::call, e.at);
    c.function = row.function;
    for (const Expr& arg : e.args) {
      if (row.of_tensors) {
        c.tensors.push_back(scope_.known_tensor(arg));
      } else {
        c.args.push_back(compile(arg));
      }
    }
    return c;
  }
  std::vector<std::string_view> known;
  for (const FunctionRow& row : kFunctions) known.push_back(row.name);
  reporter_.fail(e.at, "unknown function '" + e.text + "'",
                 nearest(e.text, known, "see launch/docs/rule-language.md"));
}

// Checks a name that dtype(x) is compared with.
void ExpressionCompiler::check_type_name(const Expr& name) const {
  if (name.form != Expr::Form::name || name.member || scope_.find(name.text)) return;
  std::vector<std::string_view> known;
  std::string all;
  for (const auto& [type, dtype] : kDTypes) {
    if (type == name.text) return;
    known.push_back(type);
    all += (all.empty() ? "one of " : ", ") + std::string(type);
  }
  reporter_.fail(name.at, "'" + name.text + "' is no element type", nearest(name.text, known, all));
}

Code ExpressionCompiler::infix(const Expr& e) {
  const auto is_dtype = [](const Expr& arg) { return arg.form == Expr::Form::call && arg.text == "dtype"; };
  const bool set = e.text == "in" && e.args[1].form == Expr::Form::set;
  if (set && e.args[1].args.empty())
    reporter_.fail(e.at, "nothing is among the values of an empty set", "write them, as in {2, 4}");
  if (e.text == "==" || e.text == "!=" || set) {
    if (is_dtype(e.args[1])) check_type_name(e.args[0]);
    if (is_dtype(e.args[0]))
      for (const Expr& name : set ? e.args[1].args : std::vector<Expr>{e.args[1]}) check_type_name(name);
  }
  std::vector<Code> args;
  if (set) {
    Code items = Code::make(Form::list, e.args[1].at);
    for (const Expr& item : e.args[1].args) items.args.push_back(compile(item));
    args.push_back(compile(e.args[0]));
    for (Code& item : items.args) args.push_back(std::move(item));
    return Code::make(Form::member_of, e.at, std::move(args), "set");
  }
  args.push_back(compile(e.args[0]));
  args.push_back(compile(e.args[1]));
  if (e.text == "in") return Code::make(Form::member_of, e.at, std::move(args), "list");
  if (e.text == "and") return Code::make(Form::conjunction, e.at, std::move(args));
  if (e.text == "or") return Code::make(Form::disjunction, e.at, std::move(args));
  if (e.text == "++") return Code::make(Form::join, e.at, std::move(args));
  if (e.text == "??")
    reporter_.fail(e.at,
                   "'?"
                   "?' is for tensors",
                   "write 'if ... then ... else ...'");
  const bool compares = e.text == "==" || e.text == "!=" || e.text[0] == '<' || e.text[0] == '>';
  return Code::make(compares ? Form::compare : Form::arithmetic, e.at, std::move(args), e.text);
}

Code ExpressionCompiler::comprehension(const Expr& e) {
  Code c = Code::make(Form::comprehension, e.at);
  Code source = compile(e.args[1]);
  c.slot = scope_.fresh(Sort::quantity, -1);
  scope_.bind_during(e.text, {Sort::quantity, c.slot, {}}, [&] {
    c.args.push_back(compile(e.args[0]));
    c.args.push_back(std::move(source));
    if (e.args.size() > 2) c.args.push_back(compile(e.args[2]));
  });
  return c;
}

Code ExpressionCompiler::spread(const Expr& e) {
  Code c = Code::make(Form::spread, e.at);
  c.member_set = scope_.member_set_of(e.args[0]);
  if (c.member_set < 0)
    reporter_.fail(e.at, "'...' over an expression that is the same for all members",
                   "mark what varies with '@'");
  c.args.push_back(compile(e.args[0]));
  return c;
}

}
