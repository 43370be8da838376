// All that ONNX holds beside plain tensors and plain nodes: it comes through as it is, byte for byte where
// nothing is rewritten, and untouched where something else is.
#include <gtest/gtest.h>

#include "core/graph/order.h"
#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using test::add_inner;
using test::body;
using test::ModelBuilder;

struct Feature {
  const char* name;
  void (*add)(ModelBuilder&);
};

pb::NodeProto& custom(ModelBuilder& b, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  pb::NodeProto& node = b.node("Magic", inputs, outputs);
  node.set_domain("my.domain");
  return node;
}

void add_opset(ModelBuilder& b, const char* domain, std::int64_t version) {
  auto* import = b.model.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

/// One tensor of every element type that there is, those after libonnx 1.12 by number (float8 17 to 20, 4
/// bits 21 to 23).
void every_dtype(ModelBuilder& b) {
  add_opset(b, "my.domain", 1);
  for (int dtype = 1; dtype <= 23; ++dtype) {
    if (dtype == pb::TensorProto::STRING) continue;
    const std::string name = "t" + std::to_string(dtype);
    const bool wide = dtype == pb::TensorProto::COMPLEX128;
    b.initializer(name, {2}, std::vector<char>(wide ? 32 : 16, 1), dtype);
    const std::size_t bytes = graph::dtype_bytes(static_cast<graph::DType>(dtype));
    auto& tensor = *b.model.mutable_graph()->mutable_initializer(b.model.graph().initializer_size() - 1);
    tensor.set_raw_data(std::string(bytes == 0 ? (dtype >= 21 ? 1 : 2) : 2 * bytes, '\1'));
    custom(b, {name}, {"of_" + name});
  }
}

void typed_fields(ModelBuilder& b) {
  add_opset(b, "my.domain", 1);
  auto& half = *b.model.mutable_graph()->add_initializer();
  half.set_name("half");
  half.set_data_type(pb::TensorProto::BFLOAT16);
  half.add_dims(2);
  half.add_int32_data(0x3F80);
  half.add_int32_data(0x4000);
  auto& small = *b.model.mutable_graph()->add_initializer();
  small.set_name("small");
  small.set_data_type(22);  // int4: two in a byte
  small.add_dims(3);
  small.add_int32_data(0x21);
  small.add_int32_data(0x03);
  custom(b, {"half", "small"}, {"typed"});
}

void strings(ModelBuilder& b) {
  auto& words = *b.model.mutable_graph()->add_initializer();
  words.set_name("words");
  words.set_data_type(pb::TensorProto::STRING);
  words.add_dims(2);
  words.add_string_data("one");
  words.add_string_data(std::string("t\0wo", 4));
  b.input("text", {"2"}, pb::TensorProto::STRING);
  b.node("Equal", {"text", "words"}, {"same"});
}

void sequences(ModelBuilder& b) {
  auto& input = *b.model.mutable_graph()->add_input();
  input.set_name("list");
  test::set_type(*input.mutable_type()->mutable_sequence_type()->mutable_elem_type(), pb::TensorProto::FLOAT,
                 {"n"});
  b.ints("zero", {0});
  b.node("SequenceInsert", {"list", "x"}, {"longer"});
  b.node("SequenceAt", {"longer", "zero"}, {"front"});
}

void optionals(ModelBuilder& b) {
  auto& input = *b.model.mutable_graph()->add_input();
  input.set_name("maybe");
  test::set_type(*input.mutable_type()->mutable_optional_type()->mutable_elem_type(), pb::TensorProto::FLOAT,
                 {"n"});
  b.node("OptionalHasElement", {"maybe"}, {"has"});
  b.node("OptionalGetElement", {"maybe"}, {"element"});
}

void fill_sparse(pb::SparseTensorProto& sparse, const std::string& name) {
  ModelBuilder::fill_tensor(*sparse.mutable_values(), name, {2}, std::vector<float>{1, 2},
                            pb::TensorProto::FLOAT);
  ModelBuilder::fill_tensor(*sparse.mutable_indices(), "", {2}, std::vector<std::int64_t>{0, 3},
                            pb::TensorProto::INT64);
  sparse.add_dims(4);
}

void sparse(ModelBuilder& b) {
  fill_sparse(*b.model.mutable_graph()->add_sparse_initializer(), "thin");
  b.node("Identity", {"thin"}, {"thick"});
  auto& node = b.node("Constant", {}, {"constant"});
  fill_sparse(
      *test::add_attribute(node, "sparse_value", pb::AttributeProto::SPARSE_TENSOR).mutable_sparse_tensor(),
      "");
  b.node("Neg", {"constant"}, {"negated"});
}

/// Both branches name their inner values alike, capture what the main graph computes, and nest.
void sub_graphs(ModelBuilder& b) {
  b.input("choose", {}, pb::TensorProto::BOOL).floats("outer", {2});
  b.node("Add", {"x", "outer"}, {"captured"});
  pb::NodeProto& node = b.node("If", {"choose"}, {"chosen"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    pb::GraphProto& graph = body(node, branch);
    add_inner(graph, branch[0] == 't' ? "Relu" : "Neg", {"captured"}, "inner");
    auto& nested = *graph.add_node();
    nested.set_op_type("If");
    nested.add_input("choose");
    nested.add_output(std::string("nested_") + branch[0]);
    for (const char* deeper : {"then_branch", "else_branch"}) {
      pb::GraphProto& inside = body(nested, deeper);
      add_inner(inside, "Mul", {"inner", "outer"}, "product");
      inside.add_output()->set_name("product");
    }
    graph.add_output()->set_name(nested.output(0));
  }
}

void loops(ModelBuilder& b) {
  b.initializer("trips", {}, std::vector<std::int64_t>{3}, pb::TensorProto::INT64);
  pb::NodeProto& loop = b.node("Loop", {"trips", "", "x"}, {"last", "", "stacked"});
  pb::GraphProto& graph = body(loop, "body");
  for (const char* name : {"i", "go", "state"}) graph.add_input()->set_name(name);
  add_inner(graph, "Identity", {"go"}, "go_on");
  add_inner(graph, "Add", {"state", "x"}, "next");
  add_inner(graph, "Identity", {"next"}, "scan");
  for (const char* name : {"go_on", "next", "scan"}) graph.add_output()->set_name(name);
  pb::NodeProto& scan = b.node("Scan", {"x", "last"}, {"sum", "sums"});
  test::set_int(scan, "num_scan_inputs", 1);
  pb::GraphProto& step = body(scan, "body");
  for (const char* name : {"before", "element"}) step.add_input()->set_name(name);
  add_inner(step, "Add", {"before", "element"}, "after");
  add_inner(step, "Identity", {"after"}, "shown");
  for (const char* name : {"after", "shown"}) step.add_output()->set_name(name);
}

void functions(ModelBuilder& b) {
  add_opset(b, "my.domain", 1);
  auto& function = *b.model.add_functions();
  function.set_name("Magic");
  function.set_domain("my.domain");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("slope");
  auto& node = *function.add_node();
  node.set_op_type("LeakyRelu");
  node.add_input("a");
  node.add_output("b");
  test::add_attribute(node, "alpha", pb::AttributeProto::FLOAT).set_ref_attr_name("slope");
  test::set_float(custom(b, {"x"}, {"magic"}), "slope", 0.5f);
}

/// A function of the default domain replaces the standard's own op.
void shadowing_function(ModelBuilder& b) {
  auto& function = *b.model.add_functions();
  function.set_name("Relu6");
  function.set_domain("");
  function.add_input("a");
  function.add_output("b");
  auto& node = *function.add_node();
  node.set_op_type("Relu");
  node.add_input("a");
  node.add_output("b");
  b.node("Relu6", {"x"}, {"bounded"});
}

void quantised(ModelBuilder& b) {
  b.initializer("scale", {}, std::vector<float>{0.1f}, pb::TensorProto::FLOAT);
  b.initializer("zero", {}, std::vector<std::uint8_t>{128}, pb::TensorProto::UINT8);
  b.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  b.node("DequantizeLinear", {"q", "scale", "zero"}, {"dq"});
  b.initializer("qw", {2, 2}, std::vector<std::uint8_t>{1, 2, 3, 4}, pb::TensorProto::UINT8);
  b.node("MatMulInteger", {"q", "qw", "zero"}, {"accumulated"});
  auto& annotation = *b.model.mutable_graph()->add_quantization_annotation();
  annotation.set_tensor_name("dq");
  auto& parameter = *annotation.add_quant_parameter_tensor_names();
  parameter.set_key("SCALE_TENSOR");
  parameter.set_value("scale");
}

void overridable(ModelBuilder& b) {
  b.floats("given", {2}).input("given", {"2"});
  b.node("Mul", {"x", "given"}, {"scaled"});
}

void training(ModelBuilder& b) {
  auto& info = *b.model.add_training_info();
  auto& node = *info.mutable_algorithm()->add_node();
  node.set_op_type("Sub");
  node.add_input("trained");
  node.add_input("trained");
  node.add_output("step");
  auto& binding = *info.add_update_binding();
  binding.set_key("trained");
  binding.set_value("step");
  b.floats("trained", {2});
  b.node("Mul", {"x", "trained"}, {"forward"});
}

void descriptions(ModelBuilder& b) {
  b.model.set_producer_name("maker");
  b.model.set_doc_string("of the model");
  b.model.mutable_graph()->set_doc_string("of the graph");
  auto& entry = *b.model.add_metadata_props();
  entry.set_key("author");
  entry.set_value("someone");
  pb::NodeProto& node = b.node("Neg", {"x"}, {"described"});
  node.set_doc_string("of the node");
  // Fields that came after libonnx 1.12: metadata of a node (9), an overload (8).
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(9, std::string("\n\1k\x12\1v", 6));
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(8, "other");
  auto& info = *b.model.mutable_graph()->add_value_info();
  info.set_name("described");
  test::set_type(*info.mutable_type(), pb::TensorProto::FLOAT, {"2"});
  info.set_doc_string("of the value");
}

/// Left out inputs and outputs in the middle, nodes without a name, two of one name.
void odd_names(ModelBuilder& b) {
  b.input("sizes", {"1"}, pb::TensorProto::INT64);
  b.node("Clip", {"x", "", "high"}, {"clipped"});
  b.initializer("high", {}, std::vector<float>{1}, pb::TensorProto::FLOAT);
  b.node("Dropout", {"x"}, {"dropped", ""}).clear_name();
  b.node("Neg", {"clipped"}, {"twice_a"}).set_name("same name");
  b.node("Neg", {"dropped"}, {"twice_b"}).set_name("same name");
  b.node("Abs", {"x"}, {"a value with spaces/and:marks"}).set_name("");
  b.node("LSTM", {"x", "x", "x", "", "", "x"}, {"", "hidden"});
}

void odd_outputs(ModelBuilder& b) {
  b.floats("constant_output", {2}).output("constant_output", {"2"}).output("x", {"2"});
}

void other_domains(ModelBuilder& b) {
  add_opset(b, "com.microsoft", 1);
  add_opset(b, "ai.onnx.ml", 3);
  b.node("FusedGelu", {"x"}, {"fused"}).set_domain("com.microsoft");
  auto& scaler = b.node("Scaler", {"x"}, {"ml"});
  scaler.set_domain("ai.onnx.ml");
  test::set_float(scaler, "unknown", 1);
}

const Feature kFeatures[] = {
    {"EveryDtype", every_dtype},
    {"TypedFields", typed_fields},
    {"Strings", strings},
    {"Sequences", sequences},
    {"Optionals", optionals},
    {"Sparse", sparse},
    {"SubGraphs", sub_graphs},
    {"Loops", loops},
    {"Functions", functions},
    {"ShadowingFunction", shadowing_function},
    {"Quantised", quantised},
    {"Overridable", overridable},
    {"Training", training},
    {"Descriptions", descriptions},
    {"OddNames", odd_names},
    {"OddOutputs", odd_outputs},
    {"OtherDomains", other_domains},
};

class Breadth : public ::testing::TestWithParam<Feature> {
 protected:
  /// y = Neg(Abs(Abs(x))) beside the feature.
  void SetUp() override {
    builder_.input("x", {"2"}).output("y", {"2"});
    builder_.node("Abs", {"x"}, {"first"});
    builder_.node("Abs", {"first"}, {"second"});
    builder_.node("Neg", {"second"}, {"y"});
    GetParam().add(builder_);
  }
  ModelBuilder builder_;
};

TEST_P(Breadth, ComesThroughToTheByte) {
  const std::string bytes = builder_.bytes();
  const ImportedModel model = test::import_text(bytes);
  graph::validate(model.graph());
  EXPECT_EQ(export_model_bytes(model, model.graph()), bytes);
  const ImportedModel again = test::import_text(bytes);
  EXPECT_EQ(graph::structural_hash(model.graph()), graph::structural_hash(again.graph()));
}

TEST_P(Breadth, StaysAsItIsWhereSomethingElseIsRewritten) {
  const std::string bytes = builder_.bytes();
  const ImportedModel model = test::import_text(bytes);
  graph::Graph graph = model.graph();
  const graph::NodeId first = test::find_node(model, "first"), second = test::find_node(model, "second");
  graph.replace_uses({second, 0}, {first, 0});
  graph.remove(second);
  graph::validate(graph);
  pb::ModelProto expected = builder_.model;
  expected.mutable_graph()->mutable_node()->DeleteSubrange(1, 1);
  expected.mutable_graph()->mutable_node(1)->set_input(0, "first");
  EXPECT_EQ(export_model_bytes(model, graph), expected.SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(All, Breadth, ::testing::ValuesIn(kFeatures),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}
