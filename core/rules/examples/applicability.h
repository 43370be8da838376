#pragma once

#include <string>

#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// What random examples of a rule's pattern said of it, up to the first that it applies to.
struct Applicability {
  std::size_t examples = 0;  // drawn
  std::size_t graphs = 0;    // of them, those whose attributes and shapes fit together
  bool applies = false;
  bool siblings = false;  // the rule is of siblings, of which nothing more is known
  std::string refused;    // why a place where the pattern and the guards held was no match, if there was one

  /// In words, where it applied to none: "its guards held in none of 20000 graphs of its pattern".
  std::string why_not() const;
  /// What to look at there.
  std::string remedy() const;
};

/// Whether there is anything that a rule of a set would rewrite: it may be well formed and have guards that
/// contradict each other, or a right side that no types fit. Draws at most `most` examples
/// (make_example.h), some seconds' worth; the same ones on every run.
Applicability try_rule(const RuleInfo& info, std::size_t most = 20000);

}
