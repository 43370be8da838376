#include "core/rules/lang/pretty.h"

#include <array>
#include <charconv>

#include "core/rules/lang/parse_rules.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {
namespace {

using Form = Expr::Form;

constexpr std::size_t kColumns = 110;

// How tightly each form binds, as the parser nests them.
enum Level : int {
  kAny,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kChoice,
  kJoin,
  kSum,
  kProduct,
  kMinus,
  kPostfix,
  kPrimary
};

Level level_of(const Expr& e) {
  if (e.form == Form::prefix) return e.text == "not" ? kNot : kMinus;
  if (e.form == Form::parity) return kCompare;
  const bool postfix = e.form == Form::dim || e.form == Form::index || e.form == Form::slice ||
                       e.form == Form::spread || e.form == Form::optional;
  if (postfix) return kPostfix;
  if (e.form == Form::conditional) return kAny;  // reaches as far to the right as it can
  if (e.form != Form::infix) return kPrimary;
  if (e.text == "or") return kOr;
  if (e.text == "and") return kAnd;
  if (e.text == "??") return kChoice;
  if (e.text == "++") return kJoin;
  if (e.text == "+" || e.text == "-") return kSum;
  if (e.text == "*" || e.text == "/" || e.text == "%") return kProduct;
  return kCompare;
}

std::string name_of(const std::string& name, bool member, const std::string& member_set) {
  return member ? name + "@" + member_set : name;
}

std::string real_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Printer {
 public:
  std::string clause(const Clause& clause) const {
    std::string out;
    for (const Target& t : clause.targets) {
      out += (out.empty() ? "" : ", ") + name_of(t.name, t.member, t.member_set) + (t.spread ? "..." : "");
    }
    const bool tuple = clause.targets.size() > 1 || (!clause.targets.empty() && clause.targets[0].spread);
    if (tuple) out = "(" + out + ")";
    if (!clause.targets.empty()) out += " = ";
    return out + print(clause.value, kAny);
  }

 private:
  std::string print(const Expr& e, int least) const {
    const std::string text = bare(e);
    return level_of(e) < least ? "(" + text + ")" : text;
  }

  std::string list(const std::vector<Expr>& args) const {
    std::string out;
    for (const Expr& arg : args) out += (out.empty() ? "" : ", ") + print(arg, kAny);
    return out;
  }

  std::string bare(const Expr& e) const {
    switch (e.form) {
      case Form::none:
        return "";
      case Form::integer:
        return std::to_string(e.integer);
      case Form::real:
        return real_text(e.real);
      case Form::text:
        return "\"" + e.text + "\"";
      case Form::name:
        return name_of(e.text, e.member, e.member_set);
      case Form::list:
        return "[" + list(e.args) + "]";
      case Form::set:
        return "{" + list(e.args) + "}";
      case Form::call:
        return e.text + "(" + list(e.args) + ")";
      case Form::operation:
        return operation(e);
      default:
        return compound(e);
    }
  }

  std::string compound(const Expr& e) const {
    switch (e.form) {
      case Form::infix: {
        const Level level = level_of(e);
        // The left operand may be as loose: operators group to the left, comparisons not at all.
        const int left = level == kCompare ? level + 1 : level;
        return print(e.args[0], left) + " " + e.text + " " + print(e.args[1], level + 1);
      }
      case Form::prefix:
        return e.text == "not" ? "not " + print(e.args[0], kNot) : "-" + print(e.args[0], kMinus);
      case Form::parity:
        return print(e.args[0], kChoice) + " " + e.text;
      case Form::dim:
        return print(e.args[0], kPostfix) + "." + bare(e.args[1]);
      case Form::index:
        return print(e.args[0], kPostfix) + "[" + print(e.args[1], kAny) + "]";
      case Form::slice:
        return print(e.args[0], kPostfix) + "[" + print(e.args[1], kAny) + ":" + print(e.args[2], kAny) + "]";
      case Form::spread:
        return print(e.args[0], kPostfix) + "...";
      case Form::optional:
        return print(e.args[0], kPostfix) + "?";
      case Form::conditional:
        return "if " + print(e.args[0], kAny) + " then " + print(e.args[1], kAny) + " else " +
               print(e.args[2], kAny);
      default: {  // comprehension
        std::string out =
            "[" + print(e.args[0], kAny) + " for " + e.text + " in " + print(e.args[1], kChoice);
        if (e.args.size() > 2) out += " if " + print(e.args[2], kAny);
        return out + "]";
      }
    }
  }

  std::string operation(const Expr& e) const {
    std::string out = e.text;
    if (!e.label.empty()) {
      out = e.label + ":";
      for (std::size_t i = 0; i < e.classes.size(); ++i) out += (i == 0 ? "" : ",") + e.classes[i];
      if (e.classes.size() > 1) out = e.label + ":{" + out.substr(e.label.size() + 1) + "}";
    }
    std::string attrs = e.copy_attrs ? "*" : "";
    for (const AttrItem& item : e.attrs) {
      if (!attrs.empty()) attrs += ", ";
      if (!item.name.empty()) attrs += item.name + (item.compare ? " == " : " = ");
      // 'a == b' without parentheses would compare attribute a.
      attrs += print(item.value, item.name.empty() ? kChoice : kAny);
    }
    // A name in lower case is an operation only with braces.
    const bool lower = e.label.empty() && e.classes.empty();
    if (!attrs.empty() || lower) out += "{" + attrs + "}";
    return out + "(" + list(e.args) + ")";
  }
};

// Clauses behind `head`, on lines that are indented by `indent` once the first is full.
std::string wrapped(std::string head, const std::vector<Clause>& clauses, std::size_t indent) {
  std::string out, line = std::move(head);
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    std::string text = Printer().clause(clauses[i]);
    const bool last = i + 1 == clauses.size();
    const bool binds = !clauses[i].targets.empty() || (!last && !clauses[i + 1].targets.empty());
    if (!last) text += binds ? ";" : ",";
    if (i > 0 && line.size() + 1 + text.size() > kColumns) {
      out += line + "\n";
      line = std::string(indent, ' ') + text;
    } else {
      line += (i == 0 ? "" : " ") + text;
    }
  }
  return out + line;
}

}  // namespace

std::string pretty(const RuleText& rule) {
  const std::string left = wrapped(rule.name + marks_text(rule.marks) + ": ", rule.left, 4);
  const std::string right = wrapped("=> ", rule.right, 7);
  const std::size_t last = left.rfind('\n');
  const std::size_t width = last == std::string::npos ? left.size() : left.size() - last - 1;
  const bool one_line = right.find('\n') == std::string::npos && width + 1 + right.size() <= kColumns;
  return left + (one_line ? " " : "\n    ") + right;
}

std::string pretty(std::string_view rule_text) {
  return pretty(parse_rules(std::string(rule_text) + "\n", "rule").at(0));
}

}
