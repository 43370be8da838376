// What a rule claims, and so where it matches: real numbers where it computes, dims of one and more, and,
// where only proved rules are asked for, ranks that the proof covers.
#include "core/rules/compile/op_domain.h"

#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"
#include "core/rules/set/status_table.h"

namespace regraft::rules {
namespace {

using graph::DType;
using graph::OpKind;
using testing::GraphBuilder;

std::size_t matches(const RuleSet& rules, const graph::Graph& graph) {
  return MatchIndex(rules, graph).matches(0).size();
}

std::size_t matches(const std::string& rule, const graph::Graph& graph) {
  return matches(RuleSet::parse(rule + "\n", "domain.rules"), graph);
}

// (x / 2) * 2, and what moves and compares, for one type.
struct OfType {
  explicit OfType(DType dtype) {
    const auto two = b.graph().weight_value(b.tables().weights().scalar(dtype, 2));
    const auto x = b.input({2, 3}, dtype);
    b.output(b.op(OpKind::mul, {b.op(OpKind::div, {x, two}), two}));
    b.output(
        b.op(OpKind::transpose, {b.op(OpKind::transpose, {b.op(OpKind::relu, {b.op(OpKind::relu, {x})})})}));
  }
  GraphBuilder b;
};

TEST(OpDomain, ARuleThatComputesSaysNothingOfIntegers) {
  OfType reals(DType::float32), integers(DType::int64);
  const std::string undone = "r: Mul(Div(x, c), c), const(c) => x";
  EXPECT_EQ(matches(undone, reals.b.graph()), 1u);
  EXPECT_EQ(matches(undone, integers.b.graph()), 0u) << "3 / 2 * 2 is 2";
  // Nor does one whose right side alone computes.
  const std::string made = "r: Relu(Relu(x)) => Mul(Relu(x), 1.0)";
  EXPECT_EQ(matches(made, reals.b.graph()), 1u);
  EXPECT_EQ(matches(made, integers.b.graph()), 0u);
}

TEST(OpDomain, ARuleThatMovesComparesOrKnowsButAClassMayBeOfAnyType) {
  OfType reals(DType::float32), integers(DType::int64);
  for (const char* rule : {"r: Transpose{p}(Transpose{q}(x)) => Transpose{permute(q, p)}(x)",
                           "r: Relu(Relu(x)) => Relu(x)", "r: Transpose{p}(f:Unary(x)) => f(Transpose{p}(x))",
                           "r: f:Binary(g:Binary(x, y), y) => f(g(Relu(x), y), y)"}) {
    EXPECT_EQ(matches(rule, integers.b.graph()), matches(rule, reals.b.graph())) << rule;
    EXPECT_GE(matches(rule, reals.b.graph()), 1u) << rule;
  }
}

TEST(OpDomain, TensorsWithoutElementsAreLeftAlone) {
  for (const std::int64_t size : {1, 0}) {
    GraphBuilder b;
    b.output(b.op(OpKind::relu, {b.op(OpKind::relu, {b.input({size, 3})})}));
    EXPECT_EQ(matches("r: Relu(Relu(x)) => Relu(x)", b.graph()), static_cast<std::size_t>(size));
  }
}

// The same rule: to any rank as bounded_checked, to that of its proof as proved.
TEST(OpDomain, OfProvedRulesTheProofsRanksDecide) {
  const TempDir folder;
  const std::string text = "r: Relu(Relu(x)) => Relu(x)\n", proof = "(assert false)\n(check-sat)\n";
  const auto rules = folder.path() / "rules";
  std::filesystem::create_directories(rules);
  write_file_atomic(rules / "a.rules", text);
  StatusTable table;
  table.proofs().set("r", proof);
  const RuleSet parsed = RuleSet::parse(text, "a.rules");
  table.set({"r", RuleStatus::proved, StatusTable::hash_of(parsed.info(0)), status_hash(proof), "", 4});
  table.save(rules / "a.rules");
  for (const std::size_t rank : {4, 5}) {
    GraphBuilder b;
    b.output(b.op(OpKind::relu, {b.op(OpKind::relu, {b.input(graph::Ints(rank, 2))})}));
    EXPECT_EQ(matches(RuleSet::load(rules, RuleStatus::proved), b.graph()), rank == 4 ? 1u : 0u);
    EXPECT_EQ(matches(RuleSet::load(rules, RuleStatus::bounded_checked), b.graph()), 1u);
  }
}

}  // namespace
}
