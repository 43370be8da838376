// Clean-up on random chains with planted pairs, against a slow reference; and the rules that it carries out
// are exact to the bit.
#include <gmock/gmock.h>

#include <bit>
#include <optional>

#include "core/graph/order.h"
#include "core/rules/examples/make_example.h"
#include "core/rules/graph_builder.h"
#include "core/rules/interpreter.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/cleanup_rules.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using testing::Attr;
using testing::AttrBlock;
using testing::GraphBuilder;
using testing::HostTensor;
using testing::Interpreter;
using testing::OpKind;
using testing::Value;

using Inputs = std::map<std::int32_t, HostTensor>;

struct Link {
  OpKind kind;
  graph::Ints perm = {};  // of a Transpose

  bool operator==(const Link&) const = default;
};

void PrintTo(const Link& link, std::ostream* out) {
  *out << graph::op_info(link.kind).name << ::testing::PrintToString(link.perm);
}

using Chain = std::vector<Link>;

constexpr std::array kKinds{OpKind::neg, OpKind::relu, OpKind::tanh, OpKind::abs, OpKind::identity};
const std::array<graph::Ints, 4> kPerms{{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}}};

Link random_link(Rng& rng) {
  if (rng.below(3) == 0) return {OpKind::transpose, kPerms[rng.below(kPerms.size())]};
  return {kKinds[rng.below(kKinds.size())]};
}

graph::Ints composed(const graph::Ints& first, const graph::Ints& then) {
  graph::Ints perm;
  for (const std::int64_t axis : then) perm.push_back(first[static_cast<std::size_t>(axis)]);
  return perm;
}

graph::Ints inverse(const graph::Ints& perm) {
  graph::Ints out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return out;
}

/// Random links, between which pairs are planted that undo each other, pairs within pairs too.
Chain random_chain(std::size_t links, Rng& rng) {
  Chain chain;
  for (std::size_t i = 0; i < links; ++i) chain.push_back(random_link(rng));
  for (std::size_t i = 0; i < links; ++i) {
    const auto at = chain.begin() + static_cast<std::ptrdiff_t>(rng.below(chain.size() + 1));
    const graph::Ints& perm = kPerms[rng.below(kPerms.size())];
    const Chain pair = rng.below(2) == 0
                           ? Chain{{OpKind::neg}, {OpKind::neg}}
                           : Chain{{OpKind::transpose, perm}, {OpKind::transpose, inverse(perm)}};
    chain.insert(at, pair.begin(), pair.end());
  }
  return chain;
}

/// One reduction somewhere in the chain; false: there is none.
bool reduce_once(Chain& chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto at = chain.begin() + static_cast<std::ptrdiff_t>(i);
    if (chain[i].kind == OpKind::identity || chain[i].perm == kPerms[0]) return chain.erase(at), true;
    if (i + 1 == chain.size() || chain[i].kind != chain[i + 1].kind) continue;
    switch (chain[i].kind) {
      case OpKind::neg:
        return chain.erase(at, at + 2), true;
      case OpKind::relu:
      case OpKind::abs:
        return chain.erase(at), true;
      case OpKind::transpose:
        chain[i + 1].perm = composed(chain[i].perm, chain[i + 1].perm);
        return chain.erase(at), true;
      default:
        break;
    }
  }
  return false;
}

void build(const Chain& chain, GraphBuilder& b) {
  Value x = b.input({2, 3, 4});
  for (const Link& link : chain)
    x = b.op(link.kind, {x}, link.perm.empty() ? AttrBlock{} : AttrBlock{{Attr::perm, link.perm}});
  b.output(x);
}

Chain chain_of(const graph::Graph& graph) {
  Chain chain;
  for (Value at = graph.outputs()[0]; graph.node(at.node).kind != OpKind::input;
       at = graph.node(at.node).inputs[0]) {
    const graph::Node& node = graph.node(at.node);
    const bool moves = node.kind == OpKind::transpose;
    chain.insert(chain.begin(), {node.kind, moves ? graph.attrs(at.node).ints(Attr::perm) : graph::Ints{}});
  }
  return chain;
}

/// Among them zeros of both signs, infinities and NaN.
Inputs telling_inputs(const graph::Graph& graph, Rng& rng) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr std::array kTelling{-0.0, 0.0, kInf, -kInf, std::numeric_limits<double>::quiet_NaN()};
  Inputs inputs = testing::random_inputs(graph, rng);
  for (auto& [origin, tensor] : inputs)
    for (double& value : tensor.real)
      if (rng.below(2) == 0) value = kTelling[rng.below(kTelling.size())];
  return inputs;
}

/// Equal to the bit; any NaN is as good as another.
bool equal_bits(const HostTensor& a, const HostTensor& b) {
  const auto same = [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return a.dtype == b.dtype && a.dims == b.dims && a.integer == b.integer &&
         std::ranges::equal(a.real, b.real, same);
}

bool equal_outputs(const graph::Graph& a, const graph::Graph& b, const Inputs& inputs) {
  const auto left = Interpreter(a).run(inputs), right = Interpreter(b).run(inputs);
  return std::ranges::equal(left, right, equal_bits);
}

TEST(CleanupOfChains, GoesAsFarAsASlowReferenceAndKeepsEveryBit) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "chains");
    const Chain chain = random_chain(1 + rng.below(30), rng);
    Chain reduced = chain;
    while (reduce_once(reduced)) {
    }
    GraphBuilder b;
    build(chain, b);
    const graph::Graph before = b.graph();
    const std::vector<CleanupStep> steps = clean_up(b.graph(), shipped());
    graph::validate(b.graph());
    EXPECT_EQ(chain_of(b.graph()), reduced);
    EXPECT_TRUE(equal_outputs(before, b.graph(), telling_inputs(before, rng)));
    EXPECT_THAT(clean_up(b.graph(), shipped()), ::testing::IsEmpty());
    for (const std::size_t limit : {steps.size() / 2, steps.size()}) {
      graph::Graph prefix = before;
      EXPECT_EQ(clean_up(prefix, shipped(), limit),
                std::vector(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(limit)));
      EXPECT_TRUE(limit < steps.size() ||
                  graph::structural_hash(prefix) == graph::structural_hash(b.graph()));
    }
  }
}

/// Whether the rule is exact on an instance; nothing where the seed makes none.
std::optional<bool> is_exact(const RuleSet& rules, std::uint32_t rule, std::uint64_t seed) {
  GraphBuilder b(seed);
  Rng rng(seed, "exact");
  RandomChoices choices(rng);
  if (!make_example(rules.compiled(rule), b, choices, {.types_vary = false, .fitting = true}))
    return std::nullopt;
  const MatchIndex index(rules, b.graph());
  if (index.matches(rule).empty()) return std::nullopt;
  graph::Graph rewritten = b.graph();
  apply(rewritten, rules, index.matches(rule)[0]);
  return equal_outputs(b.graph(), rewritten, telling_inputs(b.graph(), rng));
}

std::size_t count_inexact(const RuleSet& rules, std::uint32_t rule, std::size_t& instances) {
  constexpr std::size_t kWanted = 100, kMostSeeds = 500'000;
  std::size_t inexact = 0;
  instances = 0;
  for (std::uint64_t seed = 1; seed < kMostSeeds && instances < kWanted; ++seed) {
    const std::optional<bool> exact = is_exact(rules, rule, seed);
    instances += exact ? 1 : 0;
    inexact += exact == false ? 1 : 0;
  }
  return inexact;
}

TEST(CleanupRules, AreExactToTheBit) {
  std::size_t rules = 0;
  for (std::size_t number = 0; number < shipped().size(); ++number) {
    const RuleInfo& info = shipped().info(number);
    if (info.family != kCleanUpFamily) continue;
    ++rules;
    std::size_t instances = 0;
    EXPECT_EQ(count_inexact(RuleSet::alone(info), 0, instances), 0u) << info.name;
    EXPECT_EQ(instances, 100u) << info.name;
  }
  EXPECT_GE(rules, 10u);
}

TEST(CleanupRules, TheCheckNoticesWhatIsNotExact) {
  const RuleSet rules =
      RuleSet::parse("add-zero: Add(x, 0) => x\ndivided: Div(Mul(x, y), y) => x\n", "x.rules");
  for (const std::uint32_t rule : {0, 1}) {
    std::size_t instances = 0;
    EXPECT_GT(count_inexact(rules, rule, instances), 0u) << rules.info(rule).name;
  }
}

TEST(CleanupRules, ApplyOnlyWhereTheyLeaveFewerOperations) {
  const RuleSet rules =
      RuleSet::parse("[clean-up]\nflip: Neg(Abs(x)) => Neg(Neg(Abs(Neg(x))))\n", "flip.rules");
  GraphBuilder b;
  const Value x = b.input({2});
  b.output(b.op(OpKind::neg, {b.op(OpKind::abs, {x})}));
  EXPECT_THAT(clean_up(b.graph(), rules), ::testing::IsEmpty());
  // The inner Transpose is used twice: a merged one would come beside it.
  const Value y = b.input({2, 3, 4});
  const Value inner = b.op(OpKind::transpose, {y}, {{Attr::perm, graph::Ints{1, 2, 0}}});
  b.output(b.op(OpKind::tanh, {inner}));
  b.output(b.op(OpKind::tanh, {b.op(OpKind::transpose, {inner}, {{Attr::perm, graph::Ints{1, 2, 0}}})}));
  EXPECT_THAT(clean_up(b.graph(), shipped()), ::testing::IsEmpty());
}

// The second of two equal users goes late; only then is the Transpose above used once.
TEST(CleanupRules, WhatALaterStepOpensIsDoneToo) {
  GraphBuilder b;
  const graph::Ints perm{1, 2, 0};
  const Value inner = b.op(OpKind::transpose, {b.input({2, 3, 4})}, {{Attr::perm, perm}});
  const Value one = b.op(OpKind::transpose, {inner}, {{Attr::perm, perm}});
  const Value other = b.op(OpKind::transpose, {inner}, {{Attr::perm, perm}});
  b.output(b.op(OpKind::add, {b.op(OpKind::tanh, {one}), b.op(OpKind::tanh, {other})}));
  clean_up(b.graph(), shipped());
  EXPECT_EQ(b.graph().operation_count(), 3u);  // Transpose, Tanh, Add
}

}  // namespace
}
