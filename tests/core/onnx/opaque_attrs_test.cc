#include <gtest/gtest.h>

#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::Attr;
using graph::AttrBlock;
using test::ModelBuilder;

/// A node of x, [time, 1, 8], whose output is y, of any type; attributes are added to the reference.
pb::NodeProto& only_node(ModelBuilder& builder, const std::string& op, const std::string& domain) {
  builder.input("x", {"time", "1", "8"}).output("y", {});
  builder.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  auto& node = builder.node(op, {"x", "x", "x"}, {"y"});
  node.set_domain(domain);
  return node;
}

struct Imported {
  AttrBlock attrs;
  std::string type;  // of the output
};

Imported import_of(const ModelBuilder& builder) {
  const std::string bytes = builder.bytes();
  const ImportedModel model = test::import_text(bytes);
  const graph::NodeId id = test::find_node(model, "y");
  return {model.graph().attrs(id), model.tables().describe(model.graph().type_id({id, 0}))};
}

TEST(OpaqueAttrs, AreTheOpAndWhatItsCostDependsOn) {
  ModelBuilder pool, custom;
  pb::NodeProto& node = only_node(pool, "LpPool", "");
  test::set_ints(node, "kernel_shape", {2});
  test::set_int(node, "p", 3);
  EXPECT_EQ(import_of(pool).attrs,
            (AttrBlock{{Attr::op_type, std::string("LpPool")}, {Attr::kernel_shape, graph::Ints{2}}}));
  pb::NodeProto& other = only_node(custom, "Einsum", "my.domain");
  test::set_text(other, "equation", "i->i");
  test::set_float(other, "mode", 1);
  EXPECT_EQ(import_of(custom).attrs, (AttrBlock{{Attr::op_type, std::string("my.domain.Einsum")},
                                                {Attr::equation, std::string("i->i")},
                                                {Attr::mode, 1.0}}));
}

TEST(OpaqueAttrs, ACallOfAModelsOwnFunctionIsNoOpByItsName) {
  ModelBuilder builder;
  only_node(builder, "LSTM", "");
  pb::FunctionProto& function = *builder.model.add_functions();
  function.set_name("LSTM");
  for (const char* name : {"a", "b", "c"}) function.add_input(name);
  function.add_output("d");
  pb::NodeProto& body = *function.add_node();
  body.set_op_type("Sum");
  for (const char* name : {"a", "b", "c"}) body.add_input(name);
  body.add_output("d");
  function.add_opset_import()->set_version(17);
  EXPECT_EQ(import_of(builder).attrs, AttrBlock());
}

TEST(OpaqueAttrs, AQuantisedLstmHasTheTypeOfAnLstm) {
  ModelBuilder plain, quantised;
  test::set_int(only_node(plain, "LSTM", ""), "hidden_size", 16);
  test::set_int(only_node(quantised, "DynamicQuantizeLSTM", "com.microsoft"), "hidden_size", 16);
  EXPECT_EQ(import_of(plain).type, "float32[time, 1, 1, 16]");
  EXPECT_EQ(import_of(quantised).type, "float32[time, 1, 1, 16]");
  EXPECT_EQ(import_of(quantised).attrs.text(Attr::op_type), "com.microsoft.DynamicQuantizeLSTM");
}

}  // namespace
}
