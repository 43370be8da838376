#include <array>

#include "core/rules/compile/compiler.h"

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

Code make(Form form, Position at, std::vector<Code> args = {}, std::string symbol = {}) {
  Code c;
  c.form = form;
  c.at = at;
  c.args = std::move(args);
  c.symbol = std::move(symbol);
  return c;
}

Code literal(Quantity value, Position at) {
  Code c = make(Form::literal, at);
  c.literal = std::move(value);
  return c;
}

}  // namespace

Code Compiler::code(const Expr& e) {
  const auto all = [&] {
    std::vector<Code> args;
    for (const Expr& arg : e.args) args.push_back(arg.form == Expr::Form::none ? Code{} : code(arg));
    return args;
  };
  switch (e.form) {
    case Expr::Form::integer:
      return literal(Quantity::of(e.integer), e.at);
    case Expr::Form::real:
      return literal(Quantity::of(e.real), e.at);
    case Expr::Form::text:
      return literal(Quantity::of(e.text), e.at);
    case Expr::Form::name:
      return code_of_name(e);
    case Expr::Form::list:
      return make(Form::list, e.at, all());
    case Expr::Form::call:
      return code_of_call(e);
    case Expr::Form::infix:
      return code_of_infix(e);
    case Expr::Form::prefix:
      return make(e.text == "not" ? Form::negation : Form::minus, e.at, all());
    case Expr::Form::parity:
      return make(e.text == "odd" ? Form::odd : Form::even, e.at, all());
    case Expr::Form::dim: {
      Code c = make(Form::dim, e.at, {code(e.args[1])});
      c.tensors.push_back(tensor_argument(e.args[0]));
      return c;
    }
    case Expr::Form::index:
      return make(Form::index, e.at, all());
    case Expr::Form::slice:
      return make(Form::slice, e.at, all());
    case Expr::Form::conditional:
      return make(Form::conditional, e.at, all());
    case Expr::Form::comprehension:
      return code_of_comprehension(e);
    case Expr::Form::spread:
      return code_of_spread(e);
    case Expr::Form::none:
    case Expr::Form::set:
    case Expr::Form::operation:
    case Expr::Form::optional:
      break;
  }
  error(e.at, "a number, list or condition is expected here",
        "name tensors in patterns, and use their dims here");
}

Code Compiler::code_of_name(const Expr& e) {
  if (e.text == "index" && e.member) {
    Code c = make(Form::member_index, e.at);
    c.domain = domain_of(e.domain);
    return c;
  }
  if (e.text == "count" && e.member) {
    Code c = make(Form::member_count, e.at);
    c.domain = domain_of(e.domain);
    return c;
  }
  const Symbol* symbol = find(e.text);
  if (!symbol) {
    for (const auto& [name, dtype] : kDTypes) {
      if (name == e.text) return literal(Quantity::of(static_cast<std::int64_t>(dtype)), e.at);
    }
    if (e.text == "true" || e.text == "false") return literal(Quantity::of(e.text == "true"), e.at);
    unknown_name(e, "an attribute");
  }
  if (symbol->sort == Sort::constant) return literal(symbol->constant, e.at);
  if (symbol->sort != Sort::quantity) {
    error(e.at, "'" + e.text + "' is a tensor, not a number",
          "use its dims, as in " + e.text + ".0, or rank(" + e.text + ")");
  }
  if ((symbol->slot.domain >= 0) != e.member) {
    error(e.at,
          e.member ? "'" + e.text + "' is the same for all members"
                   : "'" + e.text + "' has one value for each member",
          e.member ? "remove '@'" : "write " + e.text + "@");
  }
  Code c = make(Form::variable, e.at);
  c.slot = symbol->slot;
  return c;
}

Slot Compiler::tensor_argument(const Expr& e) {
  if (e.form != Expr::Form::name)
    error(e.at, "a name of a tensor is expected here", "bind the expression to a name");
  const Symbol* symbol = find(e.text);
  if (!symbol) unknown_name(e, "an operand");
  if (symbol->sort != Sort::tensor)
    error(e.at, "'" + e.text + "' is no tensor", "name an operand or an output of a pattern");
  if ((symbol->slot.domain >= 0) != e.member) {
    error(e.at,
          e.member ? "'" + e.text + "' is the same for all members"
                   : "'" + e.text + "' has one value for each member",
          e.member ? "remove '@'" : "write " + e.text + "@");
  }
  return symbol->slot;
}

Code Compiler::code_of_call(const Expr& e) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name != e.text) continue;
    if (e.args.size() < row.min_args || (row.max_args != 255 && e.args.size() > row.max_args)) {
      error(e.at,
            "'" + e.text + "' takes " + std::to_string(row.min_args) +
                (row.max_args == row.min_args ? "" : " or more") + " arguments, not " +
                std::to_string(e.args.size()),
            "see core/rules/README.md");
    }
    Code c = make(Form::call, e.at);
    c.function = row.function;
    for (const Expr& arg : e.args) {
      if (row.of_tensors) {
        c.tensors.push_back(tensor_argument(arg));
      } else {
        c.args.push_back(code(arg));
      }
    }
    return c;
  }
  std::vector<std::string_view> known;
  for (const FunctionRow& row : kFunctions) known.push_back(row.name);
  error(e.at, "unknown function '" + e.text + "'", nearest(e.text, known, "see core/rules/README.md"));
}

// Of a name that dtype(x) is compared with.
void Compiler::check_type_name(const Expr& name) const {
  if (name.form != Expr::Form::name || name.member || find(name.text)) return;
  std::vector<std::string_view> known;
  std::string all;
  for (const auto& [type, dtype] : kDTypes) {
    if (type == name.text) return;
    known.push_back(type);
    all += (all.empty() ? "one of " : ", ") + std::string(type);
  }
  error(name.at, "'" + name.text + "' is no element type", nearest(name.text, known, all));
}

Code Compiler::code_of_infix(const Expr& e) {
  const auto is_dtype = [](const Expr& arg) { return arg.form == Expr::Form::call && arg.text == "dtype"; };
  const bool set = e.text == "in" && e.args[1].form == Expr::Form::set;
  if (set && e.args[1].args.empty())
    error(e.at, "nothing is among the values of an empty set", "write them, as in {2, 4}");
  if (e.text == "==" || e.text == "!=" || set) {
    if (is_dtype(e.args[1])) check_type_name(e.args[0]);
    if (is_dtype(e.args[0]))
      for (const Expr& name : set ? e.args[1].args : std::vector<Expr>{e.args[1]}) check_type_name(name);
  }
  std::vector<Code> args;
  if (set) {
    Code items = make(Form::list, e.args[1].at);
    for (const Expr& item : e.args[1].args) items.args.push_back(code(item));
    args.push_back(code(e.args[0]));
    for (Code& item : items.args) args.push_back(std::move(item));
    return make(Form::member_of, e.at, std::move(args), "set");
  }
  args.push_back(code(e.args[0]));
  args.push_back(code(e.args[1]));
  if (e.text == "in") return make(Form::member_of, e.at, std::move(args), "list");
  if (e.text == "and") return make(Form::conjunction, e.at, std::move(args));
  if (e.text == "or") return make(Form::disjunction, e.at, std::move(args));
  if (e.text == "++") return make(Form::join, e.at, std::move(args));
  if (e.text == "??")
    error(e.at,
          "'?"
          "?' is for tensors",
          "write 'if ... then ... else ...'");
  const bool compares = e.text == "==" || e.text == "!=" || e.text[0] == '<' || e.text[0] == '>';
  return make(compares ? Form::compare : Form::arithmetic, e.at, std::move(args), e.text);
}

Code Compiler::code_of_comprehension(const Expr& e) {
  Code c = make(Form::comprehension, e.at);
  Code source = code(e.args[1]);
  c.slot = fresh(Sort::quantity, -1);
  auto& names = on_right_ ? right_names_ : names_;
  const auto held = names.find(e.text);
  const std::optional<Symbol> shadowed = held == names.end() ? std::nullopt : std::optional(held->second);
  names[e.text] = {Sort::quantity, c.slot, {}, e.at};
  c.args.push_back(code(e.args[0]));
  c.args.push_back(std::move(source));
  if (e.args.size() > 2) c.args.push_back(code(e.args[2]));
  names.erase(e.text);
  if (shadowed) names[e.text] = *shadowed;
  return c;
}

Code Compiler::code_of_spread(const Expr& e) {
  Code c = make(Form::spread, e.at);
  c.domain = member_domain(e.args[0]);
  if (c.domain < 0)
    error(e.at, "'...' over an expression that is the same for all members", "mark what varies with '@'");
  c.args.push_back(code(e.args[0]));
  return c;
}

}  // namespace regraft::rules
