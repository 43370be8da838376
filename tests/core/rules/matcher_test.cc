#include <gtest/gtest.h>

#include "core/rules/example_generator.h"
#include "core/rules/graph_builder.h"
#include "core/rules/reference_matcher.h"

namespace regraft::rules {
namespace {

using graph::NodeId;
using graph::OpKind;
using graph::Value;
using testing::GraphBuilder;
using testing::ReferenceMatcher;

const RuleSet& shipped() {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  return rules;
}

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

bool has_lists(const CompiledRule& rule) {
  for (const Domain& domain : rule.domains) {
    if (!domain.siblings) return true;
  }
  return false;
}

// The pairs among the index's matches; every match of a rule without siblings.
std::set<std::vector<NodeId>> comparable(const CompiledRule& rule, std::span<const Match> matches) {
  std::set<std::vector<NodeId>> out;
  std::size_t pair = 0;
  for (const Step& step : rule.steps) pair += rule.nodes[step.node].domain >= 0 ? 2 : 1;
  for (const Match& match : matches) {
    if (!rule.is_siblings() || match.nodes.size() == pair)
      out.insert({match.nodes.begin(), match.nodes.end()});
  }
  return out;
}

std::vector<NodeId> sorted(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

class AgainstReference : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(AgainstReference, FindsTheSameMatches) {
  const std::uint32_t number = GetParam();
  const CompiledRule& rule = shipped().compiled(number);
  if (has_lists(rule) || rule.nodes.size() > 3) return;  // the reference tries every assignment of nodes
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 400 && seen < 12; ++seed) {
    GraphBuilder b(seed);
    Rng rng(seed, "reference");
    RandomChoices choices(rng);
    if (!make_example(rule, b, choices)) continue;
    add_noise(b, rng);
    const MatchIndex index(shipped(), b.graph());
    const auto found = comparable(rule, index.matches(number));
    const auto wanted = ReferenceMatcher(shipped(), number, b.graph()).run();
    seen += wanted.size();
    for (const auto& nodes : found)
      EXPECT_TRUE(wanted.contains(nodes)) << shipped().info(number).text << "\nseed " << seed;
    if (!rule.is_siblings()) {
      EXPECT_EQ(found.size(), wanted.size()) << shipped().info(number).text << "\nseed " << seed;
    } else if (rule.members_share_activation) {  // each pair is listed in one of its two orders
      std::set<std::vector<NodeId>> sets, wanted_sets;
      for (const auto& nodes : found) sets.insert(sorted(nodes));
      for (const auto& nodes : wanted) wanted_sets.insert(sorted(nodes));
      EXPECT_EQ(sets, wanted_sets) << shipped().info(number).text << "\nseed " << seed;
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<std::uint32_t>& rule) {
  std::string name = shipped().info(rule.param).name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Each, AgainstReference,
                         ::testing::Range(0u, static_cast<std::uint32_t>(shipped().size())), test_name);

}  // namespace
}  // namespace regraft::rules
