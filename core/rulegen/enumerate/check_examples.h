#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rulegen/enumerate/rule_text.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rulegen {

struct CheckOptions {
  std::size_t wanted = 40;       // applications to compare
  std::size_t attempts = 20000;  // instances drawn for them at most
  bool broadcast = true;         // as in InstanceOptions
  std::uint64_t seed = 1;
};

/// What exact examples say of a rule: how many applications agreed, and the first that did not.
struct ExampleVerdict {
  std::size_t compared = 0;
  std::string counterexample;  // shapes, attributes and seed; empty where there is none

  bool sound() const { return compared > 0 && counterexample.empty(); }
};

/// Applies the rule of number 0 of the set to random instances of the term's left side, and evaluates both
/// graphs over a prime field; with broadcasting, to instances made from the pattern alone too. The rule is
/// taken as the program applies it: what its guards, types and legality leave out is not compared.
ExampleVerdict check_examples(const rules::RuleSet& rules, const TermRule& rule,
                              const std::vector<Form>& forms, const CheckOptions& options);

/// A line that examples do not contradict, and how it came about.
struct CheckedRule {
  std::string text;
  std::size_t compared = 0;
  std::vector<std::string> guards;  // added, because the rule is not sound without
  std::string counterexample;       // of the rule without guards, on operands of equal shapes
  std::string problem;              // why no line could be written, where `text` and counterexample are empty
};

/// Writes the rule as `texts` say, in order, each without guards first and then with one and two of
/// guard_candidates; the first that examples do not contradict. A line with too few instances is no answer.
CheckedRule find_sound_text(const std::string& name, const TermRule& rule, const std::vector<Form>& forms,
                            const std::vector<TextOptions>& texts, const CheckOptions& options);

/// Names of the rules of a set that lead from the left side of a rule to its right side, on each of a few
/// instances. The order of operands of commutative ops does not count. Nothing where no `steps` rules or
/// fewer do. `constant_weights` as in InstanceOptions.
std::optional<std::vector<std::string>> find_derivation(const rules::RuleSet& set,
                                                        const rules::RuleSet& rules, const TermRule& rule,
                                                        const std::vector<Form>& forms, std::size_t steps,
                                                        bool constant_weights, std::uint64_t seed);

}
