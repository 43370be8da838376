#include "core/onnx/export.h"
#include "core/graph/constants.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "core/base/file.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"
#include "support/dead_nodes.h"

namespace regraft::onnx {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Graph;
using graph::Ints;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using test::Built;
using test::find_node;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
namespace pb = ::onnx;

pb::ModelProto exported(const ImportedModel& model, const Graph& graph) {
  pb::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(export_model_bytes(model, graph)));
  return proto;
}

std::vector<std::string> op_types(const pb::ModelProto& model) {
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

std::set<std::string> initializer_names(const pb::ModelProto& model) {
  std::set<std::string> names;
  for (const auto& tensor : model.graph().initializer()) names.insert(tensor.name());
  return names;
}

std::vector<std::string> inputs_of(const pb::NodeProto& node) {
  return {node.input().begin(), node.input().end()};
}

std::vector<std::int64_t> int_values(const pb::ModelProto& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() != name) continue;
    std::vector<std::int64_t> values(tensor.raw_data().size() / 8);
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }
  ADD_FAILURE() << "no initializer " << name;
  return {};
}

NodeId add(Graph& graph, OpKind kind, const AttrBlock& attrs, std::vector<Value> inputs) {
  return graph.add(kind, graph.tables().intern(attrs), inputs);
}

TEST(Export, AnUntouchedModelIsTheSameMessage) {
  ModelBuilder builder;
  builder.input("x", {"batch", "4"})
      .output("y", {"batch", "3"})
      .floats("w", {4, 3})
      .floats("large", {40, 40});
  builder.floats("unused", {2}).ints("shape", {-1, 3});
  builder.node("MatMul", {"x", "w"}, {"h"}).set_doc_string("a product");
  builder.node("Reshape", {"h", "shape"}, {"r"});
  auto& constant = builder.node("Constant", {}, {"c"});
  test::set_float(constant, "value_float", 2.0f);
  auto& unused = builder.node("Constant", {}, {"nobody"});
  test::set_ints(unused, "value_ints", {1, 2});
  builder.node("Mul", {"r", "c"}, {"y"});
  auto* entry = builder.model.add_metadata_props();
  entry->set_key("author");
  entry->set_value("somebody");
  builder.model.mutable_graph()->add_value_info()->set_name("h");
  builder.model.mutable_graph()->set_doc_string("doc");
  const Built model(builder);
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
}

TEST(Export, FieldsOfLaterVersionsSurvive) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"});
  auto& node = builder.node("Relu", {"x"}, {"y"});
  constexpr int kMetadataProps = 9;  // NodeProto.metadata_props came with IR 10
  std::string* metadata =
      node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(kMetadataProps);
  *metadata = "\x0a\x01k\x12\x01v";
  const Built model(builder);
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
}

TEST(Export, ARewrittenNodeFeedsTheOldConsumers) {
  ModelBuilder builder;
  builder.input("x", {"2", "4"}).output("y", {"2", "4"}).floats("b", {4});
  builder.node("Add", {"x", "b"}, {"s"});
  builder.node("Relu", {"s"}, {"y"});
  const Built model(builder);
  Graph graph = model.graph();
  const NodeId sum = find_node(model, "s");
  const graph::Node before = graph.node(sum);
  const NodeId neg = add(graph, OpKind::neg, {}, {before.inputs[0]});
  graph.replace_uses({sum, 0}, {neg, 0});
  graph.remove_dead(std::vector<NodeId>{sum});
  const pb::ModelProto out = exported(model, graph);
  EXPECT_THAT(op_types(out), ElementsAre("Neg", "Relu"));
  EXPECT_EQ(out.graph().node(1).name(), "n_y") << "an untouched node keeps its name";
  EXPECT_EQ(out.graph().node(1).input(0), out.graph().node(0).output(0));
  EXPECT_EQ(out.graph().node(1).output(0), "y");
  EXPECT_TRUE(initializer_names(out).empty()) << "the bias became unused";
}

TEST(Export, GraphOutputsKeepTheirNames) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("a", {"2"}).output("b", {"2"}).output("c", {"2"});
  builder.node("Relu", {"x"}, {"a"});
  builder.node("Neg", {"a"}, {"b"});
  builder.node("Exp", {"b"}, {"c"});
  const Built model(builder);
  Graph graph = model.graph();
  const Value a{find_node(model, "a"), 0}, b{find_node(model, "b"), 0};
  graph.set_output(0, b);  // swapped
  graph.set_output(1, a);
  graph.set_output(2, a);  // and the same value twice
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  EXPECT_THAT(op_types(out), ElementsAre("Relu", "Neg", "Identity"));
  EXPECT_EQ(out.graph().node(0).output(0), "b");
  EXPECT_EQ(out.graph().node(1).output(0), "a");
  EXPECT_THAT(inputs_of(out.graph().node(1)), ElementsAre("b"));
  EXPECT_THAT(inputs_of(out.graph().node(2)), ElementsAre("b"));
  EXPECT_EQ(out.graph().node(2).output(0), "c");
}

TEST(Export, InputsAndConstantsBecomeOutputsThroughIdentity) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("a", {"2"}).output("b", {"2"}).floats("w", {2});
  builder.node("Relu", {"x"}, {"a"});
  builder.node("Mul", {"x", "w"}, {"b"});
  const Built model(builder);
  Graph graph = model.graph();
  const auto inputs = graph.node(find_node(model, "b")).inputs;
  graph.set_output(0, inputs[0]);
  graph.set_output(1, inputs[1]);
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  EXPECT_THAT(op_types(out), ElementsAre("Identity", "Identity"));
  EXPECT_THAT(inputs_of(out.graph().node(0)), ElementsAre("x"));
  EXPECT_THAT(inputs_of(out.graph().node(1)), ElementsAre("w"));
}

TEST(Export, AnOutputListedTwiceIsWrittenOnce) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"}).output("y", {"2"});
  builder.node("Relu", {"x"}, {"a"});
  builder.node("Relu", {"a"}, {"y"});
  const Built model(builder);
  Graph graph = model.graph();
  graph.replace_uses({find_node(model, "y"), 0}, {find_node(model, "a"), 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  EXPECT_THAT(op_types(out), ElementsAre("Relu"));
  EXPECT_EQ(out.graph().node(0).output(0), "y");
  EXPECT_EQ(out.graph().output_size(), 2);
}

TEST(Export, FoldedWeightsAreWrittenOnce) {
  ModelBuilder builder;
  builder.input("x", {"2", "20"}).output("y", {"2", "20"}).floats("v", {20, 20}).floats("w", {20, 20}, 2.0f);
  builder.node("MatMul", {"x", "v"}, {"h"});
  builder.node("MatMul", {"h", "w"}, {"y"});
  const Built model(builder);
  Graph graph = model.graph();
  auto& weights = model.tables().weights();
  const graph::WeightId factors[] = {graph.weight_of(graph.node(find_node(model, "h")).inputs[1]),
                                     graph.weight_of(graph.node(find_node(model, "y")).inputs[1])};
  const auto product =
      graph::constant_operation(model.tables(), OpKind::matmul, graph.tables().intern(AttrBlock{}), factors);
  const Value x = graph.node(find_node(model, "h")).inputs[0];
  const NodeId once = add(graph, OpKind::matmul, {}, {x, graph.weight_value(product)});
  const NodeId twice = add(graph, OpKind::matmul, {}, {{once, 0}, graph.weight_value(product)});
  graph.set_output(0, {twice, 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  const std::string& raw = out.graph().initializer(0).raw_data();
  ASSERT_EQ(raw.size(), 1600u);
  std::vector<float> v(400), w(400), held(400);
  std::memcpy(held.data(), raw.data(), raw.size());
  std::memcpy(v.data(), weights[factors[0]].bytes.data(), 1600);
  std::memcpy(w.data(), weights[factors[1]].bytes.data(), 1600);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 20; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 20; ++k)
        sum += static_cast<double>(v[i * 20 + k]) * static_cast<double>(w[k * 20 + j]);
      EXPECT_EQ(held[i * 20 + j], static_cast<float>(sum));
    }
  EXPECT_EQ(export_model_bytes(model, graph), export_model_bytes(model, graph));
}

// 32 integers are 256 bytes: from there on contents of the input stay outside of messages, and so must these.
TEST(Export, ConstantsThatRewritesMakeMayHaveAnySize) {
  for (const std::int64_t count : {1, 31, 32, 33, 100, 5000}) {
    ModelBuilder builder;
    builder.input("x", {std::to_string(count), "2"})
        .output("y", {std::to_string(count), "2"})
        .floats("w", {100});
    builder.node("Relu", {"x"}, {"y"});
    builder.node("Neg", {"w"}, {"beside"});
    builder.output("beside", {"100"});
    const Built model(builder);
    Graph graph = model.graph();
    const Value x = graph.node(find_node(model, "y")).inputs[0];
    AttrBlock attrs;
    attrs.set(Attr::axis, 0);
    const Ints sizes(static_cast<std::size_t>(count), 1);
    attrs.set(Attr::split, sizes);
    const NodeId split = add(graph, OpKind::split, attrs, {x});
    std::vector<Value> parts;
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(count); ++k) parts.push_back({split, k});
    AttrBlock along;
    along.set(Attr::axis, 0);
    graph.set_output(0, {add(graph, OpKind::concat, along, parts), 0});
    remove_all_dead(graph);
    const pb::ModelProto out = exported(model, graph);
    EXPECT_THAT(int_values(out, "regraft_ints_0"), testing::ElementsAreArray(sizes)) << count;
    const TempDir folder;
    export_model(model, graph, folder.path() / "m.onnx", {ExternalData::always});
    const ImportedModel again = import_model(folder.path() / "m.onnx");
    EXPECT_EQ(again.graph().node(find_node(again, "y")).inputs.size(), parts.size());
  }
}

TEST(Export, ANodeWhoseInputTypeChangedIsWrittenAnew) {
  ModelBuilder builder;
  builder.input("x", {"2", "3"}).output("y", {"2", "3"}).ints("plain", {0, 3}).ints("four", {6});
  builder.node("Reshape", {"x", "four"}, {"flat"});
  builder.ints("back", {2, 3});
  builder.node("Reshape", {"flat", "back"}, {"square"});
  builder.node("Reshape", {"square", "plain"}, {"y"});  // copies the 2 of its input
  const Built model(builder);
  Graph graph = model.graph();
  graph.set_input(find_node(model, "y"), 0, {find_node(model, "flat"), 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  ASSERT_THAT(op_types(out), ElementsAre("Reshape", "Reshape"));
  EXPECT_EQ(out.graph().node(1).name(), "n_y");
  EXPECT_THAT(int_values(out, out.graph().node(1).input(1)), ElementsAre(2, 3))
      << "a copied dim would be 6 now";
}

TEST(Export, SubGraphCapturesFollowTheirValue) {
  ModelBuilder builder;
  builder.input("c", {}, pb::TensorProto::BOOL).input("x", {"2"}).output("y", {"2"});
  builder.node("Relu", {"x"}, {"r"});
  auto& branch = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch.add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::GRAPH);
    auto* node = attribute->mutable_g()->add_node();
    node->set_op_type("Neg");
    node->add_input("r");
    node->add_output(std::string("inner_") + name);
    attribute->mutable_g()->add_output()->set_name(std::string("inner_") + name);
  }
  const Built model(builder);
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
  Graph graph = model.graph();
  const NodeId relu = find_node(model, "r");
  const NodeId fresh = add(graph, OpKind::exp, {}, {graph.node(relu).inputs[0]});
  graph.replace_uses({relu, 0}, {fresh, 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  ASSERT_THAT(op_types(out), ElementsAre("Exp", "If"));
  for (const auto& attribute : out.graph().node(1).attribute())
    EXPECT_EQ(attribute.g().node(0).input(0), out.graph().node(0).output(0));
}

TEST(Export, ValueInfoOfVanishedValuesIsDropped) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"});
  builder.node("Relu", {"x"}, {"r"});
  builder.node("Neg", {"r"}, {"n"});
  builder.node("Exp", {"n"}, {"y"});
  for (const char* name : {"r", "n"}) builder.model.mutable_graph()->add_value_info()->set_name(name);
  const Built model(builder);
  Graph graph = model.graph();
  graph.replace_uses({find_node(model, "n"), 0}, {find_node(model, "r"), 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  ASSERT_EQ(out.graph().value_info_size(), 1);
  EXPECT_EQ(out.graph().value_info(0).name(), "r");
}

TEST(Export, BeforeIr4InitializersAreInputsToo) {
  ModelBuilder builder(9, 3);
  builder.input("x", {"2"}).input("w", {"2"}).output("y", {"2"}).floats("w", {2});
  builder.node("Add", {"x", "w"}, {"y"});
  const Built model(builder);
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
  Graph graph = model.graph();
  const NodeId sum = find_node(model, "y");
  const auto two = model.tables().weights().scalar(graph::DType::float32, 2.0);
  const NodeId product = add(graph, OpKind::mul, {}, {graph.node(sum).inputs[0], graph.weight_value(two)});
  graph.set_output(0, {product, 0});
  remove_all_dead(graph);
  const pb::ModelProto out = exported(model, graph);
  ASSERT_EQ(out.graph().input_size(), 2);
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().input(1).name(), out.graph().initializer(0).name());
}

TEST(Export, FilesAppearWholeOrNotAtAll) {
  const TempDir folder;
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"});
  builder.node("Relu", {"x"}, {"y"});
  const Built model(builder);
  const auto path = folder.path() / "out.onnx";
  export_model(model, model.graph(), path);
  EXPECT_EQ(read_file(path), model.bytes);
  EXPECT_THROW(export_model(model, model.graph(), folder.path() / "missing" / "out.onnx"), FileError);
  Graph graph = model.graph();
  const NodeId gelu = add(graph, OpKind::gelu, {{Attr::approximate, std::string("none")}},
                          {graph.node(find_node(model, "y")).inputs[0]});
  graph.set_output(0, {gelu, 0});
  try {
    export_model(model, graph, path);
    FAIL() << "opset 17 has no Gelu";
  } catch (const OnnxError& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs opset 20"));
  }
  EXPECT_EQ(read_file(path), model.bytes) << "a failed export leaves the file as it was";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "and nothing beside it";
}

}  // namespace
}
