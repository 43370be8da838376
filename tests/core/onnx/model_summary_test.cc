#include "core/onnx/model_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Summary, TellsWhatAModelIs) {
  test::ModelBuilder builder;
  builder.input("x", {"batch", "4"}).output("y", {"batch", "3"}).floats("w", {4, 3}).floats("v", {100});
  builder.node("MatMul", {"x", "w"}, {"h"});
  builder.node("Constant", {}, {"c"}).set_name("unused");
  test::set_int(*builder.model.mutable_graph()->mutable_node(1), "value_int", 1);
  builder.node("Magic", {"h"}, {"m"}).set_domain("my");
  builder.node("Relu", {"h"}, {"y"});
  builder.model.set_producer_name("maker");
  builder.model.set_producer_version("2");
  const std::string bytes = builder.bytes();
  const ModelSummary summary = summarise(test::import_text(bytes));
  EXPECT_EQ(summary.producer, "maker 2");
  EXPECT_EQ(summary.ir_version, 8);
  EXPECT_THAT(summary.opsets, ElementsAre(Pair("", 17)));
  EXPECT_EQ(summary.nodes, 4u);
  EXPECT_EQ(summary.initializers, 2u);
  EXPECT_EQ(summary.weight_bytes, 4u * (12 + 100));
  EXPECT_THAT(summary.op_counts,
              ElementsAre(Pair("Constant", 1), Pair("MatMul", 1), Pair("Relu", 1), Pair("my.Magic", 1)));
  EXPECT_THAT(summary.opaque_ops, ElementsAre(Pair("my.Magic", 1)));
  ASSERT_EQ(summary.inputs.size(), 1u);
  EXPECT_EQ(summary.inputs[0].type, "float32[batch, 4]");
  ASSERT_EQ(summary.outputs.size(), 1u);
  EXPECT_EQ(summary.outputs[0].type, "float32[batch, 3]");
  EXPECT_THAT(summary.symbols, ElementsAre("batch"));
}

TEST(Summary, SaysWhatSequencesAndOptionalsHold) {
  test::ModelBuilder builder;
  auto& graph = *builder.model.mutable_graph();
  ::onnx::TypeProto& sequence = *graph.add_input()->mutable_type();
  graph.mutable_input(0)->set_name("s");
  test::set_type(*sequence.mutable_sequence_type()->mutable_elem_type(), test::pb::TensorProto::FLOAT,
                 {"n", "3"});
  *graph.add_output()->mutable_type()->mutable_optional_type()->mutable_elem_type() = sequence;
  graph.mutable_output(0)->set_name("o");
  builder.node("Optional", {"s"}, {"o"});
  const std::string bytes = builder.bytes();
  const ModelSummary summary = summarise(test::import_text(bytes));
  EXPECT_EQ(summary.inputs.at(0).type, "sequence of float32[n, 3]");
  EXPECT_EQ(summary.outputs.at(0).type, "optional sequence of float32[n, 3]");
}

}  // namespace
}
