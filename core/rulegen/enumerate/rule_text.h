#pragma once

#include <string>
#include <vector>

#include "core/rulegen/enumerate/term.h"

namespace regraft::rulegen {

/// How much of a term's numbers a line of the rule language keeps.
struct TextOptions {
  bool any_axis = false;   // axes become variables (one for each axis and rank), ranks are not asked for
  bool any_window = true;  // kernels, strides, paddings become variables (one set for equal ones)
  std::vector<std::string> guards;  // more conditions
};

/// The rule as one line of the rule language, "name: left => right". Leaves are x0, x1..., nodes of the left
/// side n0, n1... Throws RulegenError with the reason where the language cannot say it: a left side of
/// constants or leaves alone, an attribute of the right side that the left does not determine.
std::string rule_text(const std::string& name, const TermRule& rule, const std::vector<Form>& forms,
                      const TextOptions& options);

/// "rank(x0) >= 2 and rank(x1) >= 2" for the leaves that the left side multiplies as matrices; empty where
/// there are none. A product of vectors, which both TASO and the generator leave out, obeys other laws.
std::string operands_are_matrices(const TermRule& rule, const std::vector<Form>& forms);

/// Conditions on what rule_text names, likely to make a rule sound that is not: numbers of groups, equal
/// shapes, parts of equal shapes, different axes (where they are variables); weakest first.
std::vector<std::string> guard_candidates(const TermRule& rule, const std::vector<Form>& forms,
                                          bool any_axis);

}
