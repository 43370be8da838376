// Both sides of every rule on extremes, each value rounded to float32: a rule without marks agrees there, and
// one with marks differs in the way that they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rules/examples/make_example.h"
#include "core/rules/graph_builder.h"
#include "core/rules/interpreter.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"

namespace regraft::rules {
namespace {

using graph::HostTensor;
using testing::GraphBuilder;
using testing::Interpreter;
using Inputs = std::map<std::int32_t, HostTensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowest = std::numeric_limits<float>::lowest();
constexpr double kUnit = 0x1p-23, kLeastNormal = 0x1p-126;  // of float32
constexpr double kRoundings = 64, kSpreads = 16;            // that a right rule may leave
constexpr double kNearOverflow = -kLowest / 16;
constexpr int kNoisyRuns = 8;
constexpr std::size_t kExamples = 60, kMostAttempts = 60000;

double to_float32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

/// Each element, by its input, as an extreme has it.
using Extreme = void (*)(HostTensor& tensor, bool chosen, Rng& rng);

void scale(HostTensor& tensor, double factor) {
  for (double& v : tensor.real) v = to_float32(v * factor);
}
void zeros(HostTensor& tensor, bool, Rng&) {
  scale(tensor, 0);
}
void equal(HostTensor& tensor, bool, Rng&) {
  std::ranges::fill(tensor.real, 0.75);
}
void tiny(HostTensor& tensor, bool, Rng&) {
  scale(tensor, 1e-30);
}
void denormal(HostTensor& tensor, bool, Rng&) {
  scale(tensor, 1e-40);
}
void large(HostTensor& tensor, bool, Rng&) {
  scale(tensor, 1e4);
}
void huge_one(HostTensor& tensor, bool chosen, Rng&) {
  if (chosen) scale(tensor, 1e30);
}
void huge_and_tiny(HostTensor& tensor, bool chosen, Rng&) {
  scale(tensor, chosen ? 1e-30 : 1e30);
}
void square_overflows(HostTensor& tensor, bool, Rng&) {
  scale(tensor, 1.5e19);
}
void mask(HostTensor& tensor, bool chosen, Rng& rng, double number) {
  if (!chosen) return;
  const std::size_t row = tensor.dims.empty() ? 1 : static_cast<std::size_t>(tensor.dims.back());
  const std::size_t first = rng.below(2);
  for (std::size_t i = 0; i < tensor.real.size(); ++i)
    tensor.real[i] = (i / row + first) % 2 == 0 || rng.below(3) == 0 ? number : 0;
}
void mask_infinite(HostTensor& tensor, bool chosen, Rng& rng) {
  mask(tensor, chosen, rng, -kInfinity);
}
void mask_1e4(HostTensor& tensor, bool chosen, Rng& rng) {
  mask(tensor, chosen, rng, -1e4);
}
void mask_1e9(HostTensor& tensor, bool chosen, Rng& rng) {
  mask(tensor, chosen, rng, -1e9);
}
void mask_lowest(HostTensor& tensor, bool chosen, Rng& rng) {
  mask(tensor, chosen, rng, kLowest);
}
void put(HostTensor& tensor, double number, Rng& rng) {
  if (!tensor.real.empty()) tensor.real[rng.below(tensor.real.size())] = number;
}
void infinity(HostTensor& tensor, bool chosen, Rng& rng) {
  if (chosen) put(tensor, rng.below(2) == 0 ? kInfinity : -kInfinity, rng);
}
void infinities(HostTensor& tensor, bool, Rng& rng) {
  for (const double number : {kInfinity, -kInfinity}) put(tensor, number, rng);
}
void not_a_number(HostTensor& tensor, bool chosen, Rng& rng) {
  if (chosen) put(tensor, std::numeric_limits<double>::quiet_NaN(), rng);
}

struct Named {
  const char* name;
  Extreme make;
};
constexpr Named kExtremes[] = {
    {"zeros", zeros},
    {"equal", equal},
    {"tiny", tiny},
    {"denormal", denormal},
    {"large", large},
    {"huge", huge_one},
    {"huge and tiny", huge_and_tiny},
    {"square overflows", square_overflows},
    {"mask of -inf", mask_infinite},
    {"mask of -1e4", mask_1e4},
    {"mask of -1e9", mask_1e9},
    {"mask of the lowest", mask_lowest},
    {"an infinity", infinity},
    {"infinities", infinities},
    {"a NaN", not_a_number},
};

Inputs extreme_inputs(Inputs inputs, Extreme make, Rng& rng) {
  const std::size_t chosen = rng.below(std::max<std::size_t>(1, inputs.size()));
  std::size_t at = 0;
  for (auto& [origin, tensor] : inputs) {
    const bool is_chosen = at++ == chosen;
    if (graph::is_float(tensor.dtype)) make(tensor, is_chosen, rng);
  }
  return inputs;
}

bool all_finite(const Inputs& inputs) {
  return std::ranges::all_of(inputs, [](const auto& input) {
    return std::ranges::all_of(input.second.real, [](double v) { return std::isfinite(v); });
  });
}

/// Each element of the inputs moved to a neighbour.
Inputs nudged(Inputs inputs, Rng& rng) {
  for (auto& [origin, tensor] : inputs)
    for (double& v : tensor.real)
      v = static_cast<double>(std::nextafter(static_cast<float>(v), rng.below(2) == 0
                                                                        ? -std::numeric_limits<float>::max()
                                                                        : std::numeric_limits<float>::max()));
  return inputs;
}

/// What tells two sides apart.
enum class Difference : std::uint8_t { none, special, size };

bool same_kind(double a, double b) {
  return std::isfinite(a) ? std::isfinite(b) : std::isnan(a) ? std::isnan(b) : a == b;
}

/// How far the elements may be from each other.
double tolerance(const HostTensor& left, const std::vector<HostTensor>& noisy) {
  double largest = 0, spread = 0;
  for (std::size_t i = 0; i < left.real.size(); ++i)
    if (std::isfinite(left.real[i])) largest = std::max(largest, std::abs(left.real[i]));
  for (const HostTensor& other : noisy)
    for (std::size_t i = 0; i < left.real.size(); ++i)
      if (std::isfinite(other.real[i]) && std::isfinite(left.real[i]))
        spread = std::max(spread, std::abs(other.real[i] - left.real[i]));
  return std::max({kRoundings * kUnit * largest, kSpreads * spread, kRoundings * kLeastNormal});
}

struct Sides {
  std::vector<HostTensor> left, right;
  std::vector<std::vector<HostTensor>> noisy;  // by run, then by output
  bool inputs_finite = true;
  bool left_finite = true, right_finite = true;
  bool left_near_overflow = false;                         // by less than a factor of 16
  bool left_underflows = false, right_underflows = false;  // somewhere, to a denormal or to zero
};

/// Where the left side over- or underflows by itself, or only just does not, nothing is asked of the right.
Difference difference(const Sides& sides) {
  if (sides.inputs_finite && !sides.left_finite) return Difference::none;
  const bool excused = sides.left_finite && sides.left_near_overflow && !sides.right_finite;
  if (excused) return Difference::none;
  const bool finite = sides.left_finite && sides.right_finite && !sides.right_underflows;
  for (std::size_t k = 0; k < sides.left.size(); ++k) {
    const HostTensor &left = sides.left[k], &right = sides.right[k];
    std::vector<HostTensor> noisy;
    for (const auto& run : sides.noisy) noisy.push_back(run[k]);
    const double most = tolerance(left, noisy);
    for (std::size_t i = 0; i < left.real.size(); ++i) {
      if (!same_kind(left.real[i], right.real[i])) return Difference::special;
      if (!std::isfinite(left.real[i]) || std::abs(left.real[i] - right.real[i]) <= most) continue;
      if (!sides.left_underflows) return finite ? Difference::size : Difference::special;
    }
  }
  return Difference::none;
}

bool underflows(const graph::Graph& graph, const Inputs& inputs) {
  Interpreter exact(graph);
  exact.run(inputs);
  return !exact.all_are([](double v) { return v == 0 || std::isnan(v) || std::abs(v) >= kLeastNormal; });
}

Sides compute(const graph::Graph& before, const graph::Graph& after, const Inputs& inputs, Rng& rng) {
  const auto finite = [](double v) { return std::isfinite(v); };
  Interpreter left(before, to_float32), right(after, to_float32);
  Sides sides;
  sides.left = left.run(inputs);
  sides.right = right.run(inputs);
  sides.inputs_finite = all_finite(inputs);
  sides.left_finite = left.all_are(finite);
  sides.right_finite = right.all_are(finite);
  sides.left_near_overflow = !left.all_are([](double v) { return std::abs(v) < kNearOverflow; });
  sides.left_underflows = underflows(before, inputs);
  sides.right_underflows = underflows(after, inputs);
  for (int i = 0; i < kNoisyRuns; ++i)
    sides.noisy.push_back(Interpreter(before, to_float32).run(nudged(inputs, rng)));
  return sides;
}

/// The differences seen of a rule, each with the first draw that shows it.
using Seen = std::map<Difference, std::string>;

/// One example of the rule's pattern on every extreme; false where the rule does not match there.
bool try_example(const RuleSet& rules, std::uint64_t seed, Seen& seen) {
  GraphBuilder b(seed);
  Rng rng(seed, "extremes");
  RandomChoices choices(rng);
  if (!make_example(rules.compiled(0), b, choices, {.types_vary = false, .fitting = true})) return false;
  const MatchIndex index(rules, b.graph());
  if (index.matches(0).empty()) return false;
  graph::Graph after = b.graph();
  apply(after, rules, index.matches(0)[0]);
  const Inputs inputs = testing::random_inputs(b.graph(), rng);
  for (const Named& extreme : kExtremes) {
    const Sides sides = compute(b.graph(), after, extreme_inputs(inputs, extreme.make, rng), rng);
    const Difference found = difference(sides);
    if (found != Difference::none)
      seen.try_emplace(found, std::string(extreme.name) + ", seed " + std::to_string(seed));
  }
  return true;
}

Seen differences(const RuleInfo& info) {
  const RuleSet rules = RuleSet::alone(info);
  Seen seen;
  std::size_t examples = 0;
  for (std::size_t attempt = 0; attempt < kMostAttempts && examples < kExamples; ++attempt)
    examples += try_example(rules, 77 + attempt * 7919, seen) ? 1 : 0;
  EXPECT_GE(examples, kExamples) << info.name;
  return seen;
}

class MarkedRule : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(MarkedRule, DiffersOnExtremesAsItsMarksSay) {
  const RuleInfo& info = all_shipped().info(GetParam());
  const Seen seen = differences(info);
  const auto told = [&](Difference difference) {
    const auto found = seen.find(difference);
    return found == seen.end() ? std::string("no counterexample") : found->second;
  };
  EXPECT_EQ(seen.contains(Difference::special), info.has(RuleMark::finite)) << info.text << "\n"
                                                                            << told(Difference::special);
  EXPECT_EQ(seen.contains(Difference::size), info.has(RuleMark::bounded_terms)) << info.text << "\n"
                                                                                << told(Difference::size);
}

INSTANTIATE_TEST_SUITE_P(Each, MarkedRule,
                         ::testing::Range(0u, static_cast<std::uint32_t>(all_shipped().size())),
                         [](const auto& rule) { return test_name(all_shipped(), rule.param); });

}  // namespace
}
