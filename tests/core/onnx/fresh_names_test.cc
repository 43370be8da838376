#include "core/onnx/fresh_names.h"

#include <gtest/gtest.h>

namespace regraft::onnx {
namespace {

TEST(FreshNames, AreNeitherDefinedNorReferredToAnywhere) {
  ::onnx::GraphProto graph;
  graph.add_input()->set_name("w_0");
  graph.add_initializer()->set_name("w_1");
  graph.add_node()->set_name("w_2");
  ::onnx::GraphProto& body = *graph.mutable_node(0)->add_attribute()->mutable_g();
  body.add_node()->add_input("w_3");
  body.mutable_node(0)->add_output("w_4");
  body.add_output()->set_name("w_5");
  FreshNames names(graph);
  EXPECT_EQ(names.make("w"), "w_6");
  EXPECT_EQ(names.make("w"), "w_7");
  EXPECT_EQ(names.make("x"), "x_0");
}

TEST(FreshNames, WhatMovesKeepsANameThatNothingElseHas) {
  ::onnx::GraphProto graph;
  graph.add_node()->add_output("twice");
  ::onnx::GraphProto& body = *graph.mutable_node(0)->add_attribute()->mutable_g();
  body.add_node()->add_output("twice");
  body.add_node()->add_output("once");
  FreshNames names(graph);
  EXPECT_EQ(names.moved("once"), "once");
  EXPECT_EQ(names.moved("twice"), "twice_0");
}

}  // namespace
}
