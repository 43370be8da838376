#include "core/proof/exact/check_bounded.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>

#include "core/proof/exact/exact_inputs.h"
#include "core/proof/exact/symbolic_graph.h"
#include "core/rules/compile/rule_numbers.h"
#include "core/rules/examples/make_example.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::proof {
namespace {

using rules::Choices;
using rules::ExampleLimits;

constexpr std::size_t kMatchesOfOne = 4, kMatchesOfRandom = 2;  // of one example
constexpr std::size_t kProbes = 400;
constexpr std::uint64_t kDraws = 3;  // of the corners of a grid in which the rule matches nowhere
constexpr std::size_t kOverrun = 2;  // the size of a grid is known roughly
constexpr std::size_t kSizes = 3;    // of the dims that are symbols
constexpr std::uint64_t kLargestSize = 4;
constexpr std::size_t kDeepRank = 6, kManyMembers = 5, kMostMembers = 9;  // of some random examples
constexpr std::int64_t kLargestDim = 40;

struct Grid {
  const char* name;
  ExampleLimits limits;
};

// From large to small; configs/rules/README.md says in words what they are.
const std::array<Grid, 8>& grids() {
  static const std::array<Grid, 8> all = {{
      {"grid 1", {{1, 2, 3}, 4, 3, false, false, false, true}},
      {"grid 2", {{1, 2, 3}, 4, 3, true, true, false, false}},
      {"grid 3", {{1, 2, 3}, 3, 3, true, true, false, false}},
      {"grid 4", {{1, 2}, 3, 3, true, true, false, false}},
      {"grid 5", {{1, 2}, 3, 3, true, true, true, false}},
      {"grid 6", {{1, 2}, 3, 2, true, true, true, false}},
      {"grid 7", {{1, 2}, 2, 2, true, true, true, false}},
      {"grid 8", {{2}, 3, 2, true, true, true, false}},
  }};
  return all;
}

std::string in_words(const Exact& value) {
  char text[96];
  std::snprintf(text, sizeof text, "%.12g (%016llx)", value.rough,
                static_cast<unsigned long long>(value.residue));
  return text;
}

bool all_defined(const std::vector<ExactTensor>& tensors) {
  return std::ranges::all_of(tensors, [](const ExactTensor& tensor) {
    return std::ranges::all_of(tensor.values, [](const Exact& value) { return value.defined(); });
  });
}

class Check {
 public:
  Check(const rules::RuleSet& rules, std::uint32_t rule, const BoundedOptions& options)
      : rules_(rules),
        rule_(rule),
        options_(options),
        numbers_(rules::RuleNumbers::of(rules.compiled(rule))) {}

  BoundedResult run() {
    for (const std::size_t most : {options_.most_examples, options_.last_examples}) {
      for (const Grid& grid : grids()) {
        if (done() || estimate(grid) > static_cast<double>(most)) continue;
        for (std::uint64_t draws = 0; draws < kDraws && !done(); ++draws)
          if (!enumerate(grid, draws, kOverrun * most)) break;
      }
    }
    if (!refuted()) sample();
    return std::move(result_);
  }

 private:
  bool done() const { return result_.outcome != BoundedResult::Outcome::sampled; }
  bool refuted() const { return result_.outcome == BoundedResult::Outcome::refuted; }

  // What is drawn before any decision is the same all through an enumeration: no doubles.
  ExampleLimits limits_of(const Grid& grid) const {
    ExampleLimits limits = grid.limits;
    limits.doubles = false;
    limits.numbers = numbers_;
    return limits;
  }

  double estimate(const Grid& grid) const {
    const ExampleLimits limits = limits_of(grid);
    Rng rng(options_.seed, "probes");
    double sum = 0;
    for (std::size_t i = 0; i < kProbes; ++i) {
      graph::GraphBuilder builder(i);
      rules::ProbingChoices choices(rng);
      rules::make_example(rules_.compiled(rule_), builder, choices, limits);
      sum += choices.size();
    }
    return sum / static_cast<double>(kProbes);
  }

  // Whether it was gone through as a whole.
  bool enumerate(const Grid& grid, std::uint64_t draws, std::size_t most) {
    const ExampleLimits limits = limits_of(grid);
    rules::EnumeratedChoices choices(draws);
    std::size_t matches = 0, examples = 0, undecided = 0;
    bool more = true;
    for (; more && examples < most && !refuted(); more = choices.next(), ++examples) {
      const Compared one = compare(options_.seed + examples, choices, limits, grid.name, false);
      matches += one.matches;
      undecided += one.undecided;
    }
    if (more || matches < options_.least_matches || refuted()) return !more;
    result_.outcome = BoundedResult::Outcome::holds;
    result_.grid = grid.name;
    result_.examples = examples;
    result_.grid_matches = matches;
    result_.undecided += undecided;
    return true;
  }

  void sample() {
    of_one_ = kMatchesOfRandom;
    ExampleLimits plain;
    plain.numbers = numbers_;
    ExampleLimits deep = plain, many = plain, large = plain;
    deep.dims = {1, 2};
    deep.most_rank = kDeepRank;
    many.most_members = kManyMembers;
    large.dims = {1, 2, 5, 8};
    large.most_rank = 3;
    for (const std::int64_t number : numbers_.whole) {
      if (number < kLargestDim) large.dims.insert(large.dims.end(), {number, number + 1});
      const auto members = static_cast<std::size_t>(number) + 2;
      if (members <= kMostMembers) many.most_members = std::max(many.most_members, members);
    }
    for (std::size_t draw = 0; draw < options_.most_draws && result_.random_matches < options_.random_matches;
         ++draw) {
      const std::uint64_t seed = options_.seed + draw * 7919;
      Rng rng(seed, "examples");
      rules::RandomChoices choices(rng);
      const std::size_t kind = draw % 8;
      const Compared one = compare(seed, choices,
                                   kind == 0   ? deep
                                   : kind == 1 ? many
                                   : kind == 3 ? large
                                               : plain,
                                   "random", draw % 4 == 2);
      result_.random_matches += one.matches;
      result_.undecided += one.undecided;
      if (refuted()) return;
    }
  }

  struct Compared {
    std::size_t matches = 0, undecided = 0;
  };

  // One example: some of its matches, both sides.
  Compared compare(std::uint64_t seed, Choices& choices, const ExampleLimits& limits, const char* where,
                   bool symbolic) {
    Compared out;
    graph::GraphBuilder builder(seed);
    if (!rules::make_example(rules_.compiled(rule_), builder, choices, limits)) return out;
    where_ = std::string(where) + ", seed " + std::to_string(seed);
    std::optional<SymbolicGraph> symbols;
    if (symbolic) {
      Rng rng(seed, "symbols");
      symbols = with_symbols(builder.graph(), rng);
      if (!symbols) return out;
    }
    const graph::Graph& before = symbols ? symbols->graph : builder.graph();
    const rules::MatchIndex index(rules_, before);
    const std::span<const rules::Match> found = index.matches(rule_);
    std::vector<rules::Match> matches(found.begin(), found.end());
    // The whole of a set before its pairs.
    std::ranges::stable_sort(matches, std::greater(), [](const rules::Match& m) { return m.nodes.size(); });
    for (const rules::Match& match : matches) {
      if (out.matches + out.undecided == of_one_) break;
      graph::Graph rewritten = before;
      apply(rewritten, rules_, match);
      const bool decided =
          symbols ? same_for_sizes(*symbols, rewritten, seed) : same(before, rewritten, seed);
      ++(decided ? out.matches : out.undecided);
      if (refuted()) break;
    }
    return out;
  }

  // For the sizes that the symbols came from, and for others, where the left side exists.
  bool same_for_sizes(const SymbolicGraph& before, const graph::Graph& after, std::uint64_t seed) {
    Rng rng(seed, "sizes");
    bool decided = false;
    for (std::size_t i = 0; i < kSizes && !refuted(); ++i) {
      Sizes sizes = before.sizes;
      for (auto& [symbol, size] : sizes) {
        if (i > 0) size = 1 + static_cast<std::int64_t>(rng.below(kLargestSize));
      }
      const auto left = with_sizes(before.graph, sizes);
      if (!left || !has_elements(*left)) continue;
      const auto right = with_sizes(after, sizes);
      if (!right) {
        refute("the right side does not exist for other sizes");
      } else {
        decided = same(*left, *right, seed + i) || decided;
      }
    }
    return decided;
  }

  // For ordinary values of the inputs, and for such as lie in corners. False: neither decided anything.
  bool same(const graph::Graph& before, const graph::Graph& after, std::uint64_t seed) {
    Rng rng(seed, "values"), corners(seed, "corners");
    std::vector<double> thresholds;
    add_thresholds(before, thresholds);
    add_thresholds(after, thresholds);
    const bool ordinarily = same_for(before, after, ordinary_inputs(before, rng));
    return same_for(before, after, corner_inputs(before, thresholds, corners)) || ordinarily;
  }

  bool same_for(const graph::Graph& before, const graph::Graph& after, const ExactInputMap& inputs) {
    if (refuted()) return true;
    std::vector<ExactTensor> expected;
    try {
      expected = run_exactly(before, inputs);
    } catch (const Undecided&) {
      return false;
    } catch (const graph::GraphError&) {
      return false;  // a row that is not there for other sizes: there is no such left side
    }
    try {
      return agree(before, expected, run_exactly(after, inputs));
    } catch (const Undefined& error) {
      if (!all_defined(expected)) return false;
      refute(std::string("the right side is not defined where the left is: ") + error.what());
    } catch (const Undecided&) {
      return false;
    } catch (const graph::GraphError& error) {
      refute(error.what());
    }
    return true;
  }

  // What is no number on the left says nothing. False: that holds for all elements.
  bool agree(const graph::Graph& before, const std::vector<ExactTensor>& expected,
             const std::vector<ExactTensor>& found) {
    bool decided = false;
    for (std::size_t i = 0; i < expected.size() && !refuted(); ++i) {
      const ExactTensor &left = expected[i], &right = found[i];
      const auto type = [&] { return before.tables().describe(before.type_id(before.outputs()[i])); };
      if (left.dtype != right.dtype || left.dims != right.dims)
        refute("output " + std::to_string(i) + " of type " + type() + " has another");
      decided = decided || left.values.empty();
      for (std::size_t k = 0; k < left.values.size() && !refuted(); ++k) {
        if (!left.values[k].defined()) continue;
        decided = true;
        if (!right.values[k].defined()) refute("the right side is not defined where the left is");
        if (!(left.values[k] == right.values[k]))
          refute("element " + std::to_string(k) + " of output " + std::to_string(i) + " of type " + type() +
                 " is " + in_words(left.values[k]) + " on the left and " + in_words(right.values[k]) +
                 " on the right");
      }
    }
    return decided;
  }

  void refute(const std::string& why) {
    result_.outcome = BoundedResult::Outcome::refuted;
    result_.counterexample = where_ + ", " + why;
  }

  const rules::RuleSet& rules_;
  std::uint32_t rule_;
  BoundedOptions options_;
  rules::RuleNumbers numbers_;
  BoundedResult result_;
  std::size_t of_one_ = kMatchesOfOne;
  std::string where_;  // the example at hand
};

}  // namespace

BoundedResult check_bounded(const rules::RuleSet& rules, std::uint32_t rule, const BoundedOptions& options) {
  return Check(rules, rule, options).run();
}

}
