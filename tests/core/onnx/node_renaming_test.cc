#include "core/onnx/node_renaming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using ::testing::ElementsAre;

pb::NodeProto made_node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
  pb::NodeProto made;
  made.set_op_type(op);
  for (const std::string& name : inputs) made.add_input(name);
  for (const std::string& name : outputs) made.add_output(name);
  return made;
}

/// An If whose branch reads x of the graph around it, and defines y.
pb::GraphProto graph_with_branch() {
  pb::GraphProto graph;
  graph.add_input()->set_name("x");
  pb::NodeProto& chooses = *graph.add_node() = made_node("If", {"c"}, {"z"});
  pb::GraphProto& branch = *chooses.add_attribute()->mutable_g();
  *branch.add_node() = made_node("Neg", {"x"}, {"y"});
  branch.add_output()->set_name("y");
  return graph;
}

TEST(NodeRenaming, WhatNodesDefineGetsNewNamesAndTheRestKeepsIts) {
  const pb::GraphProto graph = graph_with_branch();
  FreshNames names(graph);
  NodeRenaming renaming(names, "f.");
  EXPECT_TRUE(renaming.set("c", "condition"));
  EXPECT_FALSE(renaming.set("c", "other"));
  renaming.define(graph.node());
  EXPECT_EQ(renaming.of("z"), "f.z_0");
  EXPECT_EQ(renaming.of("x"), "x");
  pb::NodeProto moved = graph.node(0);
  renaming.apply(moved);
  EXPECT_EQ(moved.name(), "f.If_0");
  EXPECT_THAT(moved.input(), ElementsAre("condition"));
  EXPECT_THAT(moved.output(), ElementsAre("f.z_0"));
  const pb::GraphProto& branch = moved.attribute(0).g();
  EXPECT_THAT(branch.node(0).input(), ElementsAre("x")) << "defined outside";
  EXPECT_THAT(branch.node(0).output(), ElementsAre("f.y_0")) << "defined in the body";
  EXPECT_EQ(branch.output(0).name(), "f.y_0");
}

}  // namespace
}
