#include <gtest/gtest.h>

#include "core/rules/interpreter.h"
#include "core/rules/match/match_index.h"
#include "core/rules/model_zoo.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"
#include "support/validate.h"

// Sequences of rules that lead from what exporters write to the forms that are known to be fast.

namespace regraft::rules {
namespace {

using graph::NodeId;
using graph::OpKind;
using testing::GraphBuilder;

std::size_t count_of(const graph::Graph& graph, OpKind kind) {
  std::size_t count = 0;
  for (NodeId id = 0; id < graph.id_bound(); ++id) count += graph.alive(id) && graph.node(id).kind == kind;
  return count;
}

/// Applies the rule's largest match, `times` times or until there is none; returns how often.
std::size_t apply_rule(graph::Graph& graph, const char* name, std::size_t times = 1000) {
  const auto rule = shipped().find(name);
  EXPECT_TRUE(rule.has_value()) << name;
  std::size_t done = 0;
  for (; done < times; ++done) {
    const MatchIndex index(shipped(), graph);
    const auto matches = index.matches(static_cast<std::uint32_t>(*rule));
    if (matches.empty()) break;
    const auto larger = [](const Match& a, const Match& b) { return a.nodes.size() < b.nodes.size(); };
    apply(graph, shipped(), *std::max_element(matches.begin(), matches.end(), larger));
    graph::validate(graph);
  }
  return done;
}

void expect_same_values(const graph::Graph& before, const graph::Graph& after) {
  Rng rng(11, "inputs");
  const auto inputs = testing::random_inputs(before, rng);
  const auto wanted = testing::Interpreter(before).run(inputs),
             found = testing::Interpreter(after).run(inputs);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_LT(testing::relative_difference(wanted[i], found[i]), 1e-5);
  }
}

// Stack the inputs over time, merge the gates, move the split behind the additions: two products a step
// become one for all steps and one a step.
TEST(Sequences, RecurrentCellsAreBatchedOverTimeAndGates) {
  GraphBuilder b;
  testing::recurrent(b, 4, 3, 5);
  clean_up(b.graph());
  const graph::Graph start = b.graph();
  EXPECT_EQ(apply_rule(b.graph(), "matmul-gathers"), 3u);
  EXPECT_EQ(apply_rule(b.graph(), "matmul-siblings", 1), 1u);
  EXPECT_EQ(apply_rule(b.graph(), "split-slice"), 4u);
  EXPECT_EQ(apply_rule(b.graph(), "split-add-matmuls"), 4u);
  EXPECT_EQ(count_of(b.graph(), OpKind::matmul), 5u);
  EXPECT_EQ(count_of(b.graph(), OpKind::gather), 0u);
  EXPECT_EQ(count_of(b.graph(), OpKind::concat), 0u);
  expect_same_values(start, b.graph());
}

// The token that is read at the end is selected before the perceptron, the output projection, the rows of
// attention and the query projection; the rest is put into the forms that runtimes fuse.
TEST(Sequences, OnlyTheTokenThatIsReadIsComputed) {
  GraphBuilder b;
  testing::encoder(b, 6, 2, 4);
  clean_up(b.graph());
  const graph::Graph start = b.graph();
  const auto forms = {"squeeze-reshape",   "unsqueeze-reshape",    "gelu-form",         "transpose-reshape",
                      "reshape-reshape",   "reshape-identity",     "gather-keep",       "gather-reshape",
                      "gather-transpose",  "gather-reshape-slice", "transpose-reshape", "reshape-reshape",
                      "slice-add-columns", "scale-right-left",     "scale-reshape",     "scale-transpose",
                      "scale-reshape",     "matmul-add-mul"};
  for (const char* rule : forms) apply_rule(b.graph(), rule);
  expect_same_values(start, b.graph());
  const auto token = {"gather-norm",  "gather-binary", "gather-binary-left", "gather-linear",
                      "gather-unary", "gather-gemm",   "gather-reshape",     "gather-transpose",
                      "gather-rows",  "gather-softmax"};
  for (int round = 0; round < 12; ++round) {
    for (const char* rule : token) apply_rule(b.graph(), rule);
  }
  expect_same_values(start, b.graph());
  for (NodeId id = 0; id < b.graph().id_bound(); ++id) {  // no perceptron on more than one token
    if (!b.graph().alive(id) || b.graph().node(id).kind != OpKind::erf) continue;
    EXPECT_EQ(b.graph().type({id, 0}).element_count(), 32);
  }
  EXPECT_GE(apply_rule(b.graph(), "mlp-halves"), 1u);
  expect_same_values(start, b.graph());
}

TEST(Sequences, ConvolutionsAreFoldedMergedAndRegrouped) {
  GraphBuilder b;
  testing::convolutions(b);
  clean_up(b.graph());
  const graph::Graph start = b.graph();
  EXPECT_EQ(apply_rule(b.graph(), "conv-bn"), 5u);
  EXPECT_EQ(apply_rule(b.graph(), "conv-merge-groups/m=4"), 1u);
  EXPECT_EQ(apply_rule(b.graph(), "conv-siblings"), 1u);
  EXPECT_EQ(apply_rule(b.graph(), "pool-concat"), 1u);
  EXPECT_EQ(apply_rule(b.graph(), "unary-split"), 1u);
  EXPECT_EQ(apply_rule(b.graph(), "flatten-reshape"), 1u);
  EXPECT_EQ(count_of(b.graph(), OpKind::batch_norm), 0u);
  expect_same_values(start, b.graph());
}

}  // namespace
}
