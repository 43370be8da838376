#include <gtest/gtest.h>

#include <cstdlib>

#include "core/rules/examples/make_example.h"
#include "core/rules/graph_builder.h"
#include "core/rules/interpreter.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using testing::GraphBuilder;
using testing::Interpreter;

// Instances compared for each rule: two minutes of one processor for all of them. Under sanitizers, which
// take many times as long, tests/run.sh asks for fewer.
std::size_t wanted_draws() {
  const char* wanted = std::getenv("REGRAFT_RULE_DRAWS");
  return wanted == nullptr ? 1000 : static_cast<std::size_t>(std::atoi(wanted));
}

constexpr std::size_t kMostAttempts = 5000;  // for one draw that is wanted
constexpr double kTolerance = 1e-10;         // all is fp64; the largest difference that was seen is 7e-14

struct Draw {
  std::size_t compared = 0;  // matches
  double worst = 0;          // largest relative difference of an output
};

// One instance, up to four of its matches, both sides computed.
Draw draw(const RuleSet& rules, std::uint32_t rule, std::uint64_t seed) {
  GraphBuilder b(seed);
  Rng rng(seed, "instances");
  Draw out;
  RandomChoices choices(rng);
  if (!make_example(rules.compiled(rule), b, choices, {.types_vary = false, .fitting = true})) return out;
  const MatchIndex index(rules, b.graph());
  const auto matches = index.matches(rule);
  if (matches.empty()) return out;
  const auto inputs = testing::random_inputs(b.graph(), rng);
  const auto expected = Interpreter(b.graph()).run(inputs);
  for (const Match& match : matches) {
    if (out.compared == 4) break;
    graph::Graph rewritten = b.graph();
    apply(rewritten, rules, match);
    graph::validate(rewritten);
    const auto found = Interpreter(rewritten).run(inputs);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      out.worst = std::max(out.worst, testing::relative_difference(expected[i], found[i]));
    }
    ++out.compared;
  }
  return out;
}

class ShippedRule : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ShippedRule, KeepsValuesOnRandomInstances) {
  const std::uint64_t first = 1000 * (GetParam() + 1);
  const RuleInfo& info = all_shipped().info(GetParam());
  // An index of this rule alone: one of all of them would be most of the work.
  const RuleSet rules = RuleSet::alone(info);
  const std::size_t wanted = wanted_draws();
  std::size_t draws = 0, attempts = 0;
  double worst = 0;
  for (; draws < wanted && attempts < kMostAttempts * wanted && !HasFailure(); ++attempts) {
    const std::uint64_t seed = first + attempts * 7919;
    const Draw one = draw(rules, 0, seed);
    draws += one.compared > 0 ? 1 : 0;
    worst = std::max(worst, one.worst);
    EXPECT_LT(one.worst, kTolerance) << "rule " << info.text << "\nseed " << seed;
  }
  RecordProperty("worst", ::testing::PrintToString(worst));
  EXPECT_GE(draws, wanted) << "rule " << info.name << " matched too few of " << attempts
                           << " instances made from it, first seed " << first;
}

TEST(InstanceTest, NoticesARuleThatIsWrong) {
  const RuleSet wrong = RuleSet::parse(
      "perm: Transpose{p}(Transpose{q}(x)), rank(x) == 3 => Transpose{permute(p, q)}(x)\n"
      "bias: Mul(Add(MatMul(x, w), b), c), const(w, b, c), size(c) == 1 => Add(MatMul(x, w * c), b)\n"
      "pool: f:MaxPool{*}(Neg(x)) => Neg(f(x))\n",
      "wrong.rules");
  for (std::uint32_t rule = 0; rule < wrong.size(); ++rule) {
    double worst = 0;
    for (std::uint64_t seed = 1; seed < 3000; ++seed) worst = std::max(worst, draw(wrong, rule, seed).worst);
    EXPECT_GT(worst, 1e-3) << wrong.info(rule).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ShippedRule,
                         ::testing::Range(0u, static_cast<std::uint32_t>(all_shipped().size())),
                         [](const auto& rule) { return test_name(all_shipped(), rule.param); });

}  // namespace
}
