#include <gtest/gtest.h>

#include "core/rules/examples/make_example.h"
#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"
#include "core/rules/reference_matcher.h"
#include "core/rules/shipped.h"

namespace regraft::rules {
namespace {

using graph::NodeId;
using graph::OpKind;
using graph::Value;
using testing::GraphBuilder;

// Operations on what is there, so that patterns overlap, share operands and have outside uses.
void add_noise(GraphBuilder& b, Rng& rng) {
  constexpr std::array kKinds = {OpKind::relu, OpKind::add, OpKind::mul, OpKind::neg, OpKind::matmul};
  for (int i = 0; i < 3; ++i) {
    std::vector<Value> values;
    for (NodeId id = 0; id < b.graph().id_bound(); ++id) {
      for (std::uint32_t o = 0; o < b.graph().node(id).outputs.size(); ++o) values.push_back({id, o});
    }
    const auto pick = [&] { return values[rng.below(values.size())]; };
    const OpKind kind = kKinds[rng.below(kKinds.size())];
    const bool unary = kind == OpKind::relu || kind == OpKind::neg;
    try {
      b.output(b.op(kind, unary ? std::vector{pick()} : std::vector{pick(), pick()}));
    } catch (const graph::GraphError&) {  // the shapes do not fit: no noise this time
    }
  }
}

constexpr std::size_t kWantedMatches = 60;
constexpr std::uint64_t kMostSeeds = 200'000;  // some patterns are rare among random ones

class AgainstReference : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(AgainstReference, FindsTheSameMatches) {
  const RuleInfo& info = shipped().info(GetParam());
  const RuleSet rules = RuleSet::parse(info.text, "shipped.rules");
  const auto number = static_cast<std::uint32_t>(rules.find(info.name).value());
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= kMostSeeds && seen < kWantedMatches; ++seed) {
    GraphBuilder b(seed);
    Rng rng(seed, "reference");
    RandomChoices choices(rng);
    if (!make_example(rules.compiled(number), b, choices, {.fitting = true})) continue;
    add_noise(b, rng);
    const MatchIndex index(rules, b.graph());
    seen += testing::expect_reference_matches(rules, number, b.graph(), index.matches(number));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GE(seen, kWantedMatches);
}

// A guard that reads nothing of a list but its length waits until the list is there.
TEST(Matcher, CountsTheMembersOfAList) {
  const RuleSet rules = RuleSet::parse(
      "more: Concat{axis=1}(x, q@...), count@ > 1 => Concat{1}(x, Concat{1}(q@...))\n", "m.rules");
  for (const std::size_t operands : {2u, 3u}) {
    GraphBuilder b;
    std::vector<Value> values;
    for (std::size_t i = 0; i < operands; ++i) values.push_back(b.input({2, 3}));
    b.output(b.op(OpKind::concat, values, {{graph::Attr::axis, std::int64_t{1}}}));
    EXPECT_EQ(MatchIndex(rules, b.graph()).match_count(), operands - 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AgainstReference,
                         ::testing::Range(0u, static_cast<std::uint32_t>(shipped().size())),
                         [](const auto& rule) { return test_name(shipped(), rule.param); });

}  // namespace
}
