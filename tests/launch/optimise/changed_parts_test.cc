#include "launch/optimise/changed_parts.h"

#include <gmock/gmock.h>

#include "core/exec/tiny_models.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"
#include "launch/graphs/model_graphs.h"

namespace regraft::launch {
namespace {

using Box = ChangedPart::Box;
using exec::testing::ModelBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

auto stays(const char* text, const char* type) {
  return AllOf(Field(&Box::text, text), Field(&Box::type, type), Field(&Box::stays, true),
               Field(&Box::inputs, IsEmpty()));
}
auto changes(const char* text, const std::vector<std::size_t>& inputs) {
  return AllOf(Field(&Box::text, text), Field(&Box::stays, false), Field(&Box::inputs, inputs));
}

/// A model's graph, and what so many matches of each rule make of it.
class Changes : public ::testing::Test {
 protected:
  std::vector<ChangedPart> after(ModelBuilder& model, const char* text, std::size_t rewrites) {
    const auto imported = onnx::import_model(model.write(dir_.path() / "m.onnx"));
    const ModelGraphs start(imported);
    const auto rules = rules::RuleSet::parse(text, "t");
    graph::Graph graph = start[0];
    for (std::size_t i = 0; i < rewrites; ++i) {
      const rules::MatchIndex index(rules, graph);
      rules::apply(graph, rules, index.matches(0)[0]);
    }
    return changed_parts(start[0], graph);
  }

  TempDir dir_;
};

TEST_F(Changes, WhatIsTheSameIsNone) {
  ModelBuilder model;
  model.input("x", {4}).output("y", {4});
  model.node("Neg", {"x"}, {"y"});
  EXPECT_THAT(after(model, "a: Relu(x) => Abs(x)\n", 0), IsEmpty());
}

TEST_F(Changes, APartThatIsReplacedIsOneWithWhatItReads) {
  ModelBuilder model;
  model.input("x", {2, 4}).output("y", {2, 4});
  model.node("Tanh", {"x"}, {"a"});
  model.node("Neg", {"a"}, {"b"});
  model.node("Relu", {"b"}, {"c"});
  model.node("Exp", {"c"}, {"y"});
  const auto parts = after(model, "both: Relu(Neg(x)) => Sigmoid(Abs(x))\n", 1);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(parts[0].count, 1u);
  EXPECT_THAT(parts[0].before,
              ElementsAre(stays("Tanh", "float32[2, 4]"), changes("Neg", {0}), changes("Relu", {1})));
  EXPECT_THAT(parts[0].after,
              ElementsAre(stays("Tanh", "float32[2, 4]"), changes("Abs", {0}), changes("Sigmoid", {1})));
}

TEST_F(Changes, WhatIsTakenAwayLeavesNothing) {
  ModelBuilder model;
  model.input("x", {4}).output("y", {4});
  model.node("Neg", {"x"}, {"a"});
  model.node("Neg", {"a"}, {"b"});
  model.node("Exp", {"b"}, {"y"});
  const auto parts = after(model, "twice: Neg(Neg(x)) => x\n", 1);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_THAT(parts[0].before,
              ElementsAre(stays("input", "float32[4]"), changes("Neg", {0}), changes("Neg", {1})));
  EXPECT_THAT(parts[0].after, IsEmpty());
}

TEST_F(Changes, PartsThatLookAlikeAreOne) {
  ModelBuilder model;
  for (const int size : {4, 4, 8}) {
    static int number = 0;
    const std::string n = std::to_string(++number);
    model.input("x" + n, {size}).output("y" + n, {size});
    model.node("Neg", {"x" + n}, {"a" + n});
    model.node("Tanh", {"a" + n}, {"y" + n});
  }
  const auto parts = after(model, "one: Neg(x) => Abs(x)\n", 3);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[0].count, 2u);
  EXPECT_EQ(parts[1].count, 1u);
  EXPECT_THAT(parts[1].after, ElementsAre(stays("input", "float32[8]"), changes("Abs", {0})));
}

TEST_F(Changes, PartsBeforeThatBecomeOneAreOne) {
  ModelBuilder model;
  model.input("x", {4}).output("y", {4});
  model.node("Neg", {"x"}, {"a"});
  model.node("Exp", {"x"}, {"b"});
  model.node("Add", {"a", "b"}, {"c"});
  model.node("Tanh", {"c"}, {"y"});
  const auto parts = after(model, "sum: Add(Neg(x), Exp(y)) => Sub(Sin(y), x)\n", 1);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_THAT(parts[0].before, SizeIs(4));
  EXPECT_THAT(parts[0].after,
              ElementsAre(stays("input", "float32[4]"), changes("Sin", {0}), changes("Sub", {1, 0})));
}

}  // namespace
}
