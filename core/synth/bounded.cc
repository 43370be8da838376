#include "core/synth/bounded.h"

#include <array>

#include "core/rules/example_generator.h"
#include "core/rules/rewrite.h"
#include "core/synth/exact_graph.h"

namespace regraft::synth {
namespace {

using rules::Choices;
using rules::ExampleLimits;

constexpr std::size_t kMatchesOfOne = 4;  // of one example
constexpr std::size_t kProbes = 400;
constexpr std::size_t kOverrun = 2;  // the size of a grid is known roughly
constexpr std::size_t kValues = 2;   // draws of the inputs' values for one match

struct Grid {
  const char* words;
  ExampleLimits limits;
};

// From large to small.
const std::array<Grid, 8>& grids() {
  static const std::array<Grid, 8> all = {{
      {"dims 1-3, ranks to 4, sets to 3, two spatial dims, all ops",
       {{1, 2, 3}, 4, 3, false, false, false, true}},
      {"dims 1-3, ranks to 4, sets to 3, one spatial dim", {{1, 2, 3}, 4, 3, true, true, false, false}},
      {"dims 1-3, ranks to 3, sets to 3, one spatial dim", {{1, 2, 3}, 3, 3, true, true, false, false}},
      {"dims 1-2, ranks to 3, sets to 3, one spatial dim", {{1, 2}, 3, 3, true, true, false, false}},
      {"dims 1-2, ranks to 3, sets to 3, one spatial dim of 4", {{1, 2}, 3, 3, true, true, true, false}},
      {"dims 1-2, ranks to 3, sets of 2, one spatial dim of 4", {{1, 2}, 3, 2, true, true, true, false}},
      {"dims 1-2, ranks to 2, sets of 2, one spatial dim of 4", {{1, 2}, 2, 2, true, true, true, false}},
      {"dims 2, ranks to 3, sets of 2, one spatial dim of 4", {{2}, 3, 2, true, true, true, false}},
  }};
  return all;
}

class Check {
 public:
  Check(const rules::RuleSet& rules, std::uint32_t rule, const BoundedOptions& options)
      : rules_(rules), rule_(rule), options_(options) {}

  BoundedResult run() {
    for (const std::size_t most : {options_.most_examples, options_.last_examples}) {
      for (const Grid& grid : grids()) {
        if (done() || estimate(grid) > static_cast<double>(most)) continue;
        enumerate(grid, kOverrun * most);
      }
    }
    if (!refuted()) sample();
    return std::move(result_);
  }

 private:
  bool done() const { return result_.outcome != BoundedResult::Outcome::sampled; }
  bool refuted() const { return result_.outcome == BoundedResult::Outcome::refuted; }

  double estimate(const Grid& grid) const {
    Rng rng(options_.seed, "probes");
    double sum = 0;
    for (std::size_t i = 0; i < kProbes; ++i) {
      rules::GraphBuilder builder(i);
      rules::ProbingChoices choices(rng);
      rules::make_example(rules_.compiled(rule_), builder, choices, grid.limits);
      sum += choices.size();
    }
    return sum / static_cast<double>(kProbes);
  }

  void enumerate(const Grid& grid, std::size_t most) {
    rules::EnumeratedChoices choices;
    std::size_t matches = 0, examples = 0, undecided = 0;
    bool more = true;
    for (; more && examples < most && !refuted(); more = choices.next(), ++examples) {
      const Compared one = compare(options_.seed + examples, choices, grid.limits, grid.words);
      matches += one.matches;
      undecided += one.undecided;
    }
    if (more || matches < options_.least_matches || refuted()) return;
    result_.outcome = BoundedResult::Outcome::holds;
    result_.grid = grid.words;
    result_.examples = examples;
    result_.grid_matches = matches;
    result_.undecided += undecided;
  }

  void sample() {
    for (std::size_t draw = 0; draw < options_.most_draws && result_.random_matches < options_.random_matches;
         ++draw) {
      const std::uint64_t seed = options_.seed + draw * 7919;
      Rng rng(seed, "examples");
      rules::RandomChoices choices(rng);
      const Compared one = compare(seed, choices, {}, "random");
      result_.random_matches += one.matches;
      result_.undecided += one.undecided;
      if (refuted()) return;
    }
  }

  struct Compared {
    std::size_t matches = 0, undecided = 0;
  };

  // One example: some of its matches, both sides.
  Compared compare(std::uint64_t seed, Choices& choices, const ExampleLimits& limits, const char* where) {
    Compared out;
    rules::GraphBuilder builder(seed);
    if (!rules::make_example(rules_.compiled(rule_), builder, choices, limits)) return out;
    const rules::MatchIndex index(rules_, builder.graph());
    for (const rules::Match& match : index.matches(rule_)) {
      if (out.matches + out.undecided == kMatchesOfOne) break;
      graph::Graph rewritten = builder.graph();
      apply(rewritten, rules_, match);
      bool decided = true;
      for (std::size_t i = 0; i < kValues && decided; ++i) {
        Rng rng(seed, i == 0 ? "values" : "more-values");
        decided = same(builder.graph(), rewritten, rng, where, seed);
      }
      ++(decided ? out.matches : out.undecided);
      if (refuted()) break;
    }
    return out;
  }

  bool same(const graph::Graph& before, const graph::Graph& after, Rng& rng, const char* where,
            std::uint64_t seed) {
    const ExactInputMap inputs = exact_inputs(before, rng);
    try {
      const auto expected = run_exactly(before, inputs), found = run_exactly(after, inputs);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i].equals(found[i])) continue;
        result_.outcome = BoundedResult::Outcome::refuted;
        result_.counterexample = std::string(where) + ", seed " + std::to_string(seed) + ", output " +
                                 std::to_string(i) + " of type " +
                                 before.tables().describe(before.type_id(before.outputs()[i]));
      }
    } catch (const Undecided&) {
      return false;
    }
    return true;
  }

  const rules::RuleSet& rules_;
  std::uint32_t rule_;
  BoundedOptions options_;
  BoundedResult result_;
};

}  // namespace

BoundedResult check_bounded(const rules::RuleSet& rules, std::uint32_t rule, const BoundedOptions& options) {
  return Check(rules, rule, options).run();
}

}  // namespace regraft::synth
