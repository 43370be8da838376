#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::rules {

/// A sequence of rewrites written by hand: how a known fast form is reached. Text, one step a line, '#'
/// begins a comment:
///     gather-norm            the rule once, at its match of the most nodes (first in canonical order)
///     gather-binary 3        three times, one after the other
///     scale-reshape all      until it matches nowhere; never is no error
///     mlp-rows each          at each match that there is now, and at none that this makes
///     gather-binary at 2     once, at match 2 of the canonical order, from 0
///     repeat 12              the steps to the next `end`, twelve times; without a number until a round
///     end                    changes nothing
///     expect MatMul 32       the graph must now have so many operations of that type
///     expect total 178       the same of all operations
struct ScriptStep {
  enum class Form : std::uint8_t { largest, all, each, numbered, expect, repeat };
  Form form = Form::largest;
  std::string name;        // of the rule, or the op type, or "total"
  std::size_t number = 1;  // times (0 of a repeat: until nothing changes), number of the match, or operations
  std::size_t line = 0;
  std::vector<ScriptStep> body;  // of a repeat
};

struct Script {
  std::string where;  // of errors
  std::vector<ScriptStep> steps;

  /// Throws RuleError with the line for what is no step.
  static Script parse(std::string_view text, const std::string& where);
  static Script load(const std::filesystem::path& path);
};

/// Carries a script out on a graph (after clean-up, as the rules expect) and gives the matches it applied, in
/// order. Throws RuleError with the script's line where a rule is unknown, matches fewer times than asked
/// for, or an expectation fails.
std::vector<Match> run_script(const Script& script, graph::Graph& graph, const RuleSet& rules);

}
