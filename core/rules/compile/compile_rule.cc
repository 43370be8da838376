#include "core/rules/compile/compile_rule.h"

#include <algorithm>
#include <map>

#include "core/rules/compile/check_kinds.h"
#include "core/rules/compile/find_locality.h"
#include "core/rules/compile/lint.h"
#include "core/rules/compile/match_planner.h"
#include "core/rules/compile/pattern_compiler.h"
#include "core/rules/compile/replacement_compiler.h"

namespace regraft::rules {
namespace {

constexpr std::size_t kMostVariants = 256;

using Constants = std::map<std::string, Quantity>;  // chosen from finite sets

// Names that a pattern or a binding on the left gives a value to.
void bound_names(const Expr& e, std::vector<std::string>& out) {
  for (const AttrItem& item : e.attrs) {
    if (!item.compare && item.value.form == Expr::Form::name) out.push_back(item.value.text);
  }
  for (const Expr& arg : e.args) bound_names(arg, out);
}

// Whether the expression speaks of that name.
bool mentions(const Expr& e, std::string_view name) {
  const auto in = [&](const Expr& part) { return mentions(part, name); };
  return (e.form == Expr::Form::name && e.text == name) || std::ranges::any_of(e.args, in) ||
         std::ranges::any_of(e.attrs, [&](const AttrItem& item) { return in(item.value); });
}

struct Choice {
  std::string name;
  std::vector<Expr> values;
};

// 'name in {...}' where nothing binds the name: one rule for each value.
std::vector<Choice> finite_sets(const RuleText& text, const RuleReporter& reporter) {
  std::vector<std::string> bound;
  for (const Clause& clause : text.left) {
    if (clause.value.form == Expr::Form::operation) bound_names(clause.value, bound);
    for (const Target& target : clause.targets) bound.push_back(target.name);
  }
  std::vector<Choice> choices;
  for (const auto* side : {&text.left, &text.right}) {
    for (const Clause& clause : *side) {
      const Expr& e = clause.value;
      const bool is_in = clause.targets.empty() && e.form == Expr::Form::infix && e.text == "in" &&
                         e.args[0].form == Expr::Form::name && e.args[1].form == Expr::Form::set;
      if (!is_in || std::find(bound.begin(), bound.end(), e.args[0].text) != bound.end()) continue;
      const std::string& name = e.args[0].text;
      const auto elsewhere = [&](const Clause& other) {
        return &other != &clause && mentions(other.value, name);
      };
      if (e.args[1].args.empty())
        reporter.fail(e.at, "'" + name + "' has no value to take", "as in " + name + " in {3, 5}");
      if (std::ranges::none_of(text.left, elsewhere) && std::ranges::none_of(text.right, elsewhere))
        reporter.fail(e.at, "nothing depends on '" + name + "', so that all its values make one rule",
                      "remove the set, or use the name");
      choices.push_back({name, e.args[1].args});
    }
  }
  return choices;
}

Quantity literal_of(const Expr& e, const RuleReporter& reporter) {
  if (e.form == Expr::Form::integer) return Quantity::of(e.integer);
  if (e.form == Expr::Form::real) return Quantity::of(e.real);
  if (e.form == Expr::Form::prefix && e.text == "-")
    return arithmetic('-', Quantity::of(std::int64_t{0}), literal_of(e.args[0], reporter));
  reporter.fail(e.at, "a finite set holds numbers", "as in k in {3, 5}");
}

std::string suffix(const std::string& name, const Quantity& value) {
  const bool whole = value.kind == Quantity::Kind::integer;
  return "/" + name + "=" +
         graph::to_string(whole ? graph::AttrValue(value.integer) : graph::AttrValue(value.real));
}

CompiledRule compile_variant(const RuleText& text, const Constants& constants, const RuleReporter& reporter) {
  CompiledRule rule;
  rule.frames.resize(1);
  RuleScope left(rule, reporter);
  for (const auto& [name, value] : constants) left.bind(name, {Sort::constant, {}, value});
  PatternConditions conditions = PatternCompiler(rule, left).compile(text);
  MatchPlanner(rule, reporter, conditions.constants).plan(std::move(conditions.checks));
  if (pattern_order(rule).size() < rule.nodes.size())
    reporter.fail(text.left[0].at, "its pattern reads what is made of it",
                  "no graph has a cycle: name another operand");
  ReplacementCompiler(rule, left, conditions.constants).compile(text);
  check_kinds(rule, reporter);
  lint(text, rule, left);
  find_locality(rule);
  return rule;
}

}  // namespace

std::vector<NamedRule> compile_rule(const RuleText& text, std::string_view file) {
  const RuleReporter reporter(file, text.name, text.at);
  std::vector<std::pair<std::string, Constants>> variants = {{text.name, {}}};
  for (const Choice& choice : finite_sets(text, reporter)) {
    std::vector<std::pair<std::string, Constants>> grown;
    for (const auto& [name, constants] : variants) {
      for (const Expr& value : choice.values) {
        Constants more = constants;
        const Quantity literal = literal_of(value, reporter);
        more[choice.name] = literal;
        grown.emplace_back(name + suffix(choice.name, literal), std::move(more));
      }
    }
    variants = std::move(grown);
    if (variants.size() > kMostVariants) {
      reporter.fail("its finite sets make more than 256 rules", "shorten them");
    }
  }
  std::vector<NamedRule> out;
  for (const auto& [name, constants] : variants) {
    out.push_back({name, compile_variant(text, constants, reporter)});
    out.back().rule.file = file;
  }
  return out;
}

}
