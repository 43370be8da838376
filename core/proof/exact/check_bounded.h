#pragma once

#include <cstdint>
#include <string>

#include "core/rules/set/rule_set.h"
#include "core/rules/set/status_table.h"

namespace regraft::proof {

struct BoundedOptions {
  std::size_t most_examples = 40000;    // of one grid; a grid of more is given up for a smaller one
  std::size_t last_examples = 1000000;  // of the largest grid that is tried when all have more than that
  std::size_t least_matches = 12;       // a grid in which the rule matches less often says nothing
  /// Beyond the grid: larger dims, ranks and sets, dims that are symbols.
  std::size_t random_matches = rules::kUsualRandomMatches;
  std::size_t most_draws = 100000;  // in search of those
  std::uint64_t seed = 1;
};

/// What the exact check of one rule found.
struct BoundedResult {
  enum class Outcome : std::uint8_t { holds, sampled, refuted };
  Outcome outcome =
      Outcome::sampled;      // sampled: no grid could be enumerated, only random matches were compared
  std::string grid;          // the grid that was enumerated as a whole: "grid 1"
  std::size_t examples = 0;  // of that grid
  std::size_t grid_matches = 0, random_matches = 0;  // both sides computed and compared
  std::size_t undecided = 0;                         // left out: a branch was too close to tell (exact.h)
  std::string counterexample;                        // refuted: how to make it again
};

/// Computes both sides of the rule exactly on every small example of its pattern (make_example.h), and
/// on random larger ones. Small means up to a bound on dims, ranks, attributes and members of sets. Equal
/// residues modulo 2^61 - 1 for random values mean that both sides are the same rational function of their
/// inputs and of the functions that are not rational. The chance of an error is about 1e-12 each. Each branch
/// of Relu and Max is decided on the real values. What would multiply the grid is drawn for each example:
/// signs and zeros of constants, steps, axes, pads, transposed operands, vectors, rows counted from the end,
/// smaller first operands. Integers are drawn where a rule computes nothing. On dims that are symbols the
/// rule is applied to the symbolic graph, and both sides are computed for some sizes.
BoundedResult check_bounded(const rules::RuleSet& rules, std::uint32_t rule,
                            const BoundedOptions& options = {});

}
