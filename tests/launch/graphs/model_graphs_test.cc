#include "launch/graphs/model_graphs.h"

#include <gtest/gtest.h>

#include "core/onnx/model_builder.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::launch {
namespace {

namespace pb = ::onnx;
using onnx::test::add_inner;

TEST(ModelGraphs, AreFoundByTheirPaths) {
  onnx::test::ModelBuilder builder;
  builder.input("x", {"8"}).input("b", {}, pb::TensorProto::BOOL).output("y", {"8"});
  builder.node("Relu", {"x"}, {"r"});
  pb::NodeProto& choice = builder.node("If", {"b"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    pb::GraphProto& body = onnx::test::body(choice, branch);
    add_inner(body, "Tanh", {"r"}, "tanh");
    body.add_output()->set_name("tanh");
  }
  const std::string bytes = builder.bytes();
  const onnx::ImportedModel model = onnx::test::import_text(bytes);
  const ModelGraphs graphs(model);
  EXPECT_EQ(graphs.find(""), 0u);
  EXPECT_EQ(graphs.find("If_1/else_branch"), 2u);
  EXPECT_THROW(graphs.find("If_2/else_branch"), rules::RuleError);
  EXPECT_EQ(graphs.operation_count(), 4u);
}

}  // namespace
}
