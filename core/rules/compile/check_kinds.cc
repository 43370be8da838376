#include "core/rules/compile/check_kinds.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace regraft::rules {
namespace {

using Form = Code::Form;
// One bit for each kind that a value may have.
using Kinds = std::uint8_t;
constexpr Kinds kCondition = 1, kInteger = 2, kReal = 4, kList = 8, kText = 16;
constexpr Kinds kNumber = kInteger | kReal, kAny = 31;

std::string named(Kinds kinds) {
  constexpr std::array<std::pair<Kinds, const char*>, 5> kNames = {
      {{kCondition, "a condition"},
       {kInteger, "a whole number"},
       {kReal, "a real number"},
       {kList, "a list"},
       {kText, "a text"}},
  };
  std::string out = (kinds & kNumber) == kNumber ? "a number" : "";
  if (!out.empty()) kinds = static_cast<Kinds>(kinds & ~kNumber);
  for (const auto& [kind, name] : kNames) {
    if ((kinds & kind) != 0) out += (out.empty() ? "" : " or ") + std::string(name);
  }
  return out;
}

const char* remedy_for(Kinds wanted) {
  if (wanted == kCondition) return "compare it with something, as in rank(x) == 2";
  if (wanted == kList) return "write a list, as in [0, 1] or dims(x)";
  if (wanted == kInteger) return "write a whole number, as in 2 or x.0";
  return "write a number or a list of whole numbers";
}

bool comparable(Kinds a, Kinds b) {
  return (a & b) != 0 || ((a & kNumber) != 0 && (b & kNumber) != 0) ||
         ((a & kList) != 0 && (b & kInteger) != 0) || ((a & kInteger) != 0 && (b & kList) != 0);
}

Kinds of_literal(const Quantity& literal) {
  switch (literal.kind) {
    case Quantity::Kind::boolean:
      return kCondition;
    case Quantity::Kind::integer:
      return kInteger;
    case Quantity::Kind::real:
      return kReal;
    case Quantity::Kind::list:
      return kList;
    case Quantity::Kind::text:
      return kText;
    case Quantity::Kind::none:
      break;
  }
  return kAny;  // a bound that is left out
}

Kinds of_tensors(Function function) {
  switch (function) {
    case Function::dims:
    case Function::ints:
      return kList;
    case Function::value:
      return kReal;
    case Function::is_const:
    case Function::scalar:
    case Function::floating:
    case Function::present:
    case Function::output:
      return kCondition;
    default:
      return kInteger;
  }
}

/// A literal that no whole number is equal to.
bool is_fraction(const Code& code) {
  return code.form == Form::literal && code.literal.kind == Quantity::Kind::real &&
         code.literal.real != std::floor(code.literal.real);
}

class KindReader {
 public:
  explicit KindReader(const RuleReporter& reporter) : reporter_(reporter) {}

  void bind(Slot slot, Kinds kinds) { held_[{slot.member_set, slot.index}] = kinds; }

  void need(const Code& code, Kinds wanted, const std::string& who) {
    const Kinds found = of(code);
    if ((found & wanted) == 0)
      reporter_.fail(code.at, who + " is " + named(wanted) + ", and this is " + named(found),
                     remedy_for(wanted));
  }

  Kinds of(const Code& code) {
    switch (code.form) {
      case Form::literal:
        return of_literal(code.literal);
      case Form::variable: {
        const auto found = held_.find({code.slot.member_set, code.slot.index});
        return found == held_.end() ? kAny : found->second;
      }
      case Form::call:
        return code.tensors.empty() ? of_call(code) : of_tensors(code.function);
      case Form::arithmetic:
      case Form::minus:
        return of_arithmetic(code);
      case Form::compare:
      case Form::conjunction:
      case Form::disjunction:
      case Form::negation:
      case Form::member_of:
      case Form::odd:
      case Form::even:
        check_condition(code);
        return kCondition;
      case Form::conditional:
        need(code.args[0], kCondition, "what stands after 'if'");
        return of(code.args[1]) | of(code.args[2]);
      case Form::dim:
        need(code.args[0], kInteger, "the number of a dim");
        return kInteger;
      case Form::index:
        need(code.args[0], kList, "what has elements");
        need(code.args[1], kInteger, "the place of an element");
        return kInteger;
      case Form::member_index:
      case Form::member_count:
        return kInteger;
      default:
        return of_list(code);
    }
  }

 private:
  // list, join, slice, comprehension, spread
  Kinds of_list(const Code& code) {
    if (code.form == Form::comprehension) {
      need(code.args[1], kList, "what stands after 'in'");
      bind(code.slot, kInteger);
      need(code.args[0], kInteger | kCondition, "an element of a list");
      if (code.args.size() > 2) need(code.args[2], kCondition, "what stands after 'if'");
    } else if (code.form == Form::slice) {
      need(code.args[0], kList, "what has elements");
      for (std::size_t i = 1; i < code.args.size(); ++i)
        need(code.args[i], kInteger, "the place of an element");
    } else {
      const bool join = code.form == Form::join;
      for (const Code& arg : code.args) {
        const bool several = join || arg.form == Form::spread;
        need(arg, several ? kList : Kinds{kInteger | kCondition},
             join ? "an operand of '++'" : "an element of a list");
      }
    }
    return kList;
  }

  void check_condition(const Code& code) {
    const auto each = [&](Kinds wanted, const std::string& who) {
      for (const Code& arg : code.args) need(arg, wanted, who);
    };
    if (code.form == Form::negation) return each(kCondition, "an operand of 'not'");
    if (code.form == Form::conjunction) return each(kCondition, "an operand of 'and'");
    if (code.form == Form::disjunction) return each(kCondition, "an operand of 'or'");
    if (code.form == Form::odd || code.form == Form::even)
      return each(kInteger | kList, "what is odd or even");
    if (code.form == Form::member_of && code.symbol == "list") {
      need(code.args[0], kInteger, "what is looked for in a list");
      return need(code.args[1], kList, "what stands after 'in'");
    }
    const bool ordered = code.symbol[0] == '<' || code.symbol[0] == '>';
    if (code.form == Form::compare && ordered) {
      need(code.args[0], kNumber | kList, "the left of '" + code.symbol + "'");
      return need(code.args[1], kNumber, "the right of '" + code.symbol + "'");
    }
    const Kinds left = of(code.args[0]);
    for (std::size_t i = 1; i < code.args.size(); ++i) {
      const Kinds right = of(code.args[i]);
      if (!comparable(left, right) || ((left & kReal) == 0 && is_fraction(code.args[i])))
        reporter_.fail(code.at, named(left) + " is never equal to " + named(right),
                       "compare numbers with numbers, and lists with lists or whole numbers");
    }
  }

  Kinds of_arithmetic(const Code& code) {
    const std::string who = "an operand of '" + (code.form == Form::minus ? "-" : code.symbol) + "'";
    Kinds all = 0;
    bool list = false;
    const Code* real = nullptr;
    for (const Code& arg : code.args) {
      need(arg, kNumber | kList, who);
      const Kinds kinds = of(arg) & (kNumber | kList);
      all |= kinds;
      list = list || kinds == kList;
      if (kinds == kReal) real = &arg;
    }
    if (list && real)
      reporter_.fail(real->at, "a list is of whole numbers, and this is a real number", remedy_for(kInteger));
    if (list) return kList;
    return real && (all & kList) == 0 ? kReal : all;
  }

  Kinds of_call(const Code& code) {
    const auto args = [&](std::initializer_list<Kinds> wanted) {
      for (std::size_t i = 0; i < code.args.size(); ++i)
        need(code.args[i], wanted.begin()[i], "argument " + std::to_string(i + 1));
    };
    switch (code.function) {
      case Function::max:
      case Function::min:
        if (code.args.size() == 1) args({kList});
        if (code.args.size() == 2) args({kInteger, kInteger});
        return kInteger;
      case Function::range:
        args({kInteger, kInteger});
        return kList;
      case Function::permute:
        args({kList, kList});
        return kList;
      case Function::position:
        args({kList, kInteger});
        return kInteger;
      case Function::remove:
      case Function::insert:
      case Function::set:
        args({kList, kInteger, kInteger});
        return kList;
      case Function::reverse:
      case Function::invert:
        args({kList});
        return kList;
      default:  // len, sum, prod, permutation
        args({kList});
        return code.function == Function::permutation ? kCondition : kInteger;
    }
  }

  const RuleReporter& reporter_;
  std::map<std::pair<std::int16_t, std::uint16_t>, Kinds> held_;
};

Kinds of_attribute(graph::Attr attr) {
  using graph::Attr;
  switch (attr) {
    case Attr::axis:
    case Attr::ceil_mode:
    case Attr::count_include_pad:
    case Attr::group:
    case Attr::keepdims:
    case Attr::num_heads:
    case Attr::to:
    case Attr::trans_a:
    case Attr::trans_b:
      return kInteger | kCondition;  // on the right true is 1
    case Attr::approximate:
    case Attr::mode:
      return kText;
    default:
      return takes_list(attr) ? kList : kNumber;
  }
}

void check_right(const RightStep& step, KindReader& kinds) {
  using RightForm = RightStep::Form;
  for (const auto& [attr, code] : step.attrs) {
    kinds.need(code, of_attribute(attr), std::string(graph::attr_name(attr)));
  }
  for (const RightOperand& operand : step.operands) {
    if (!operand.slot && !operand.absent) kinds.need(operand.number, kNumber, "an operand");
  }
  if (step.form == RightForm::let) kinds.bind(*step.target, kinds.of(step.codes[0]));
  if (step.form == RightForm::integer) kinds.need(step.codes[0], kInteger, "the value of Int");
  if (step.form == RightForm::integers) kinds.need(step.codes[0], kList, "the value of Ints");
  if (step.form != RightForm::full && step.form != RightForm::values) return;
  const bool full = step.form == RightForm::full;
  kinds.need(step.codes[0], kList,
             full ? "the first of Full, its dims," : "the first of Values, its elements,");
  kinds.need(step.codes[1], full ? kNumber : kList,
             full ? "the second of Full, its value," : "the second of Values, its dims,");
}

}  // namespace

void check_kinds(const CompiledRule& rule, const RuleReporter& reporter) {
  KindReader kinds(reporter);
  for (const PatternNode& node : rule.nodes) {
    for (const auto& [attr, slot] : node.attrs)
      kinds.bind(slot, static_cast<Kinds>(of_attribute(attr) & ~kCondition));  // flags are 0 or 1 there
  }
  const auto check = [&](const Check& c) {
    if (c.target) return kinds.bind(*c.target, kinds.of(c.code));
    kinds.need(c.code, kCondition, "a guard");
  };
  for (const Step& step : rule.steps) {
    for (const Check& c : step.checks) check(c);
  }
  for (const Check& c : rule.set_checks) check(c);
  for (const Code& code : rule.same) kinds.of(code);
  for (const Code& code : rule.order) kinds.need(code, kInteger, "what siblings are sorted by");
  for (const RightStep& step : rule.right) check_right(step, kinds);
}

}
