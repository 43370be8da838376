// Bodies of If, Loop and Scan as graphs of their own: what they begin with, and how they are written again.
#include <gmock/gmock.h>

#include <set>

#include "core/graph/constants.h"
#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"
#include "core/onnx/model_summary.h"
#include "support/dead_nodes.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using test::add_inner;
using test::body;
using test::Built;
using test::find_node;
using test::import_text;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::StartsWith;
namespace pb = ::onnx;

void returns(pb::GraphProto& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) graph.add_output()->set_name(name);
}

/// A graph input without a shape.
void takes(pb::GraphProto& graph, const std::string& name, int dtype = pb::TensorProto::FLOAT) {
  auto* input = graph.add_input();
  input->set_name(name);
  input->mutable_type()->mutable_tensor_type()->set_elem_type(dtype);
}

std::string type_of(const ImportedModel& model, const std::string& value, std::size_t at = 0) {
  const Graph& graph = model.graph(at);
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    for (std::uint32_t k = 0; graph.alive(id) && k < graph.node(id).outputs.size(); ++k)
      if (model.value_name({id, k}, at) == value) return model.tables().describe(graph.type_id({id, k}));
  return "no value";
}

std::vector<std::string> paths(const ImportedModel& model) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < model.graph_count(); ++at) found.push_back(model.graph_path(at));
  return found;
}

std::vector<Graph> copies(const ImportedModel& model) {
  std::vector<Graph> graphs;
  for (std::size_t at = 0; at < model.graph_count(); ++at) graphs.push_back(model.graph(at));
  return graphs;
}

pb::ModelProto exported(const ImportedModel& model, const std::vector<Graph>& graphs) {
  pb::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(export_model_bytes(model, graphs)));
  return proto;
}

const pb::GraphProto& body_of(const pb::ModelProto& model, int node, int attribute) {
  return model.graph().node(node).attribute(attribute).g();
}

/// If: relu(r) * w in one branch, another If in the other; r is computed, w a constant, both captured.
ModelBuilder branches(std::int64_t opset = 17, std::int64_t ir = 8) {
  ModelBuilder builder(opset, ir);
  builder.input("c", {}, pb::TensorProto::BOOL)
      .input("x", {"n", "3"})
      .output("y", {"n", "3"})
      .floats("w", {3});
  if (ir < 4) builder.input("w", {"3"});
  builder.node("Relu", {"x"}, {"r"});
  auto& choice = builder.node("If", {"c"}, {"y"});
  auto& then = body(choice, "then_branch");
  add_inner(then, "Mul", {"r", "w"}, "product");
  returns(then, {"product"});
  auto& other = body(choice, "else_branch");
  auto& nested = add_inner(other, "If", {"c"}, "nested");
  for (const char* name : {"then_branch", "else_branch"}) {
    add_inner(body(nested, name), name[0] == 't' ? "Neg" : "Abs", {"x"}, "inside");
    returns(*nested.mutable_attribute(nested.attribute_size() - 1)->mutable_g(), {"inside"});
  }
  returns(other, {"nested"});
  return builder;
}

TEST(Bodies, AreGraphsBesideTheMainOne) {
  const std::string bytes = branches().bytes();
  const ImportedModel model = import_text(bytes);
  ASSERT_THAT(paths(model),
              ElementsAre("", "If_1/then_branch", "If_1/else_branch", "If_1/else_branch/If_0/then_branch",
                          "If_1/else_branch/If_0/else_branch"));
  for (std::size_t at = 0; at < model.graph_count(); ++at) graph::validate(model.graph(at));
  EXPECT_EQ(type_of(model, "product", 1), "float32[n, 3]") << "captured values have their type";
  EXPECT_EQ(type_of(model, "y"), "float32[n, 3]") << "and so has what both branches give";
  const NodeId product = find_node(model, "product", 1);
  EXPECT_EQ(model.graph(1).node(model.graph(1).node(product).inputs[0].node).kind, OpKind::input);
  EXPECT_EQ(model.graph(1).node(model.graph(1).node(product).inputs[1].node).kind, OpKind::weight);
  EXPECT_EQ(model.op_type(model.graph(1).node(product).origin), "Mul");
  EXPECT_EQ(summarise(model).bodies.size(), 4u);
}

TEST(Bodies, OriginsAndOpaqueHashesAreOfOneNodeEach) {
  const std::string bytes = branches().bytes();
  const ImportedModel model = import_text(bytes);
  std::set<std::int32_t> origins;
  std::size_t nodes = 0;
  for (std::size_t at = 0; at < model.graph_count(); ++at)
    for (NodeId id = 0; id < model.graph(at).id_bound(); ++id) {
      const graph::Node& node = model.graph(at).node(id);
      if (node.kind == OpKind::input || node.kind == OpKind::weight) continue;
      origins.insert(node.origin);
      ++nodes;
    }
  EXPECT_EQ(origins.size(), nodes);
  const auto origin_of = [&](const char* name, std::size_t at) {
    return model.graph(at).node(find_node(model, name, at)).origin;
  };
  EXPECT_NE(model.tables().opaque_hash(origin_of("y", 0)),
            model.tables().opaque_hash(origin_of("nested", 2)));
}

TEST(Bodies, UntouchedOnesComeOutAsTheyWere) {
  const std::string bytes = branches().bytes();
  const ImportedModel model = import_text(bytes);
  EXPECT_EQ(export_model_bytes(model, model.graph()), bytes);
  EXPECT_EQ(export_model_bytes(model, copies(model)), bytes);
}

TEST(Bodies, TouchedOnesAreWrittenAndTheOthersLeft) {
  ModelBuilder builder = branches();
  builder.node("Exp", {"x"}, {"regraft_weight_0"});  // the name that a new constant would have
  const Built model(builder);
  std::vector<Graph> graphs = copies(model);
  Graph& then = graphs[1];
  const NodeId product = find_node(model, "product", 1);
  const Value w = then.node(product).inputs[1];
  const auto twice = graph::constant_operation(model.tables(), OpKind::add, {},
                                               std::array{then.weight_of(w), then.weight_of(w)});
  then.set_input(product, 1, then.weight_value(twice));
  remove_all_dead(then);
  const pb::ModelProto out = exported(model, graphs);
  const pb::GraphProto& written = body_of(out, 1, 0);
  ASSERT_EQ(written.initializer_size(), 1);
  EXPECT_EQ(written.initializer(0).name(), written.node(0).input(1));
  EXPECT_NE(written.initializer(0).name(), "regraft_weight_0");
  EXPECT_EQ(written.node(0).input(0), "r") << "captured values keep their names";
  EXPECT_EQ(written.output(0).name(), "product");
  EXPECT_EQ(body_of(out, 1, 1).SerializeAsString(), body_of(builder.model, 1, 1).SerializeAsString());
  EXPECT_EQ(out.graph().initializer_size(), 0) << "nothing captures w now";
}

TEST(Bodies, OfOldModelsHaveTheirNewConstantsAsNodes) {
  const std::string bytes = branches(8, 3).bytes();
  const ImportedModel model = import_text(bytes);
  std::vector<Graph> graphs = copies(model);
  const NodeId product = find_node(model, "product", 1);
  const auto two = model.tables().weights().scalar(graph::DType::float32, 2);
  graphs[1].set_input(product, 1, graphs[1].weight_value(two));
  remove_all_dead(graphs[1]);
  const pb::GraphProto written = body_of(exported(model, graphs), 1, 0);
  EXPECT_EQ(written.initializer_size(), 0);
  ASSERT_EQ(written.node_size(), 2);
  EXPECT_EQ(written.node(0).op_type(), "Constant");
  EXPECT_EQ(written.node(1).input(1), written.node(0).output(0));
}

TEST(Bodies, AnOutputThatBecomesACaptureIsCopied) {
  const std::string bytes = branches().bytes();
  const ImportedModel model = import_text(bytes);
  std::vector<Graph> graphs = copies(model);
  const NodeId inside = find_node(model, "inside", 3);
  graphs[3].set_output(0, graphs[3].node(inside).inputs[0]);
  remove_all_dead(graphs[3]);
  const pb::ModelProto out = exported(model, graphs);
  const pb::GraphProto& written = body_of(out, 1, 1).node(0).attribute(0).g();
  ASSERT_EQ(written.node_size(), 1);
  EXPECT_EQ(written.node(0).op_type(), "Identity") << "runtimes refuse a capture as an output";
  EXPECT_EQ(written.node(0).input(0), "x");
  EXPECT_EQ(written.node(0).output(0), "inside");
}

TEST(Bodies, ConstantsThatAnotherGraphNamesAreWrittenAgain) {
  ModelBuilder builder;
  builder.input("c", {}, pb::TensorProto::BOOL).input("x", {"2"}).output("y", {"2"});
  auto& choice = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& graph = body(choice, name);
    ModelBuilder::fill_tensor(*graph.add_initializer(), std::string("scale_of_") + name, {2},
                              std::vector<float>{0.5, 0.25}, pb::TensorProto::FLOAT);
    add_inner(graph, "Mul", {"x", std::string("scale_of_") + name}, std::string("out_of_") + name);
    returns(graph, {std::string("out_of_") + name});
  }
  body(choice, "third").add_node()->set_op_type("Nothing");  // of no If that is known: left alone
  const Built model(builder);
  std::vector<Graph> graphs = copies(model);
  ASSERT_EQ(graphs.size(), 3u);
  const NodeId first = find_node(model, "out_of_then_branch", 1),
               second = find_node(model, "out_of_else_branch", 2);
  EXPECT_EQ(graphs[1].weight_of(graphs[1].node(first).inputs[1]),
            graphs[2].weight_of(graphs[2].node(second).inputs[1]))
      << "equal constants are one";
  for (std::size_t at : {1u, 2u}) {
    const NodeId id = at == 1 ? first : second;
    const Value x = graphs[at].node(id).inputs[0];
    const NodeId sum = graphs[at].add(OpKind::add, {}, std::array{x, graphs[at].node(id).inputs[1]});
    graphs[at].replace_uses({id, 0}, {sum, 0});
    remove_all_dead(graphs[at]);
  }
  const pb::ModelProto out = exported(model, graphs);
  EXPECT_EQ(body_of(out, 0, 0).node(0).input(1), "scale_of_then_branch");
  EXPECT_EQ(body_of(out, 0, 1).node(0).input(1), "scale_of_else_branch");
  EXPECT_EQ(body_of(out, 0, 1).initializer_size(), 1);
}

/// A value of the main graph takes the place of a captured one, but the body has a value of that name itself.
TEST(Bodies, NamesThatABodyHidesGetAnotherOne) {
  ModelBuilder builder;
  builder.input("c", {}, pb::TensorProto::BOOL).input("x", {"2"}).output("y", {"2"}).output("z", {"2"});
  builder.node("Relu", {"x"}, {"r"});
  builder.node("Exp", {"x"}, {"z"});
  auto& choice = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& graph = body(choice, name);
    add_inner(graph, "Neg", {"r"}, "z");
    add_inner(graph, "Add", {"z", "r"}, "sum");
    returns(graph, {"sum"});
  }
  const Built model(builder);
  std::vector<Graph> graphs = copies(model);
  graphs[0].replace_uses({find_node(model, "r"), 0}, {find_node(model, "z"), 0});
  remove_all_dead(graphs[0]);
  const pb::ModelProto out = exported(model, graphs);
  ASSERT_EQ(out.graph().node_size(), 3);
  EXPECT_EQ(out.graph().node(1).op_type(), "Identity");
  EXPECT_EQ(out.graph().node(1).input(0), "z");
  for (int branch : {0, 1}) {
    EXPECT_EQ(body_of(out, 2, branch).node(0).input(0), out.graph().node(1).output(0));
    EXPECT_EQ(body_of(out, 2, branch).node(1).input(0), "z") << "the body's own";
  }
}

/// A loop whose first carried value keeps its shape while the second grows.
ModelBuilder loop(const std::string& trips_input) {
  ModelBuilder builder;
  builder.input("x", {"2", "3"}).input("m", {}, pb::TensorProto::INT64).output("last", {"2", "3"});
  builder.initializer("four", {}, std::vector<std::int64_t>{4}, pb::TensorProto::INT64);
  pb::NodeProto& node = builder.node("Loop", {trips_input, "", "x", "x"}, {"last", "grown", "stacked"});
  pb::GraphProto& graph = body(node, "body");
  takes(graph, "i", pb::TensorProto::INT64);
  takes(graph, "go", pb::TensorProto::BOOL);
  for (const char* name : {"kept", "more"}) takes(graph, name);
  add_inner(graph, "Identity", {"go"}, "go_on");
  add_inner(graph, "Mul", {"kept", "x"}, "kept_on");
  auto& concat = add_inner(graph, "Concat", {"more", "kept"}, "even_more");
  test::set_int(concat, "axis", 0);
  add_inner(graph, "Relu", {"more"}, "shown");
  returns(graph, {"go_on", "kept_on", "even_more", "shown"});
  return builder;
}

TEST(Bodies, CarriedValuesKeepOnlyTheDimsThatTheyGiveBack) {
  const std::string bytes = loop("four").bytes();
  const ImportedModel model = import_text(bytes);
  ASSERT_THAT(paths(model), ElementsAre("", "Loop_0/body"));
  graph::validate(model.graph(1));
  EXPECT_EQ(type_of(model, "kept_on", 1), "float32[2, 3]");
  EXPECT_EQ(type_of(model, "last"), "float32[2, 3]");
  EXPECT_THAT(type_of(model, "more", 1), StartsWith("float32[?"));
  EXPECT_THAT(type_of(model, "grown"), StartsWith("float32[?"));
  EXPECT_NE(type_of(model, "grown"), type_of(model, "more", 1)) << "at the end it is larger";
  EXPECT_EQ(type_of(model, "stacked"), "float32[...]") << "a loop that never runs has no elements to tell";
  EXPECT_EQ(model.graph_runs(1).at({}), 4);
  EXPECT_EQ(export_model_bytes(model, copies(model)), bytes);
}

// What a branch within a loop is declared to give may be that of the first run alone.
TEST(Bodies, WhatABranchInALoopIsDeclaredToGiveIsNotTakenForGranted) {
  for (const bool within : {true, false}) {
    ModelBuilder builder;
    builder.input("c", {}, pb::TensorProto::BOOL).input("x", {}).output("y", {});
    builder.initializer("four", {}, std::vector<std::int64_t>{4}, pb::TensorProto::INT64);
    pb::NodeProto& loop = builder.node("Loop", {"four", "", "x"}, {"y"});
    pb::GraphProto& graph = body(loop, "body");
    takes(graph, "i", pb::TensorProto::INT64);
    takes(graph, "go", pb::TensorProto::BOOL);
    takes(graph, "kept");
    add_inner(graph, "Identity", {"go"}, "go_on");
    add_inner(graph, "Unsqueeze", {"kept", "zero"}, "larger");
    builder.initializer("zero", {1}, std::vector<std::int64_t>{0}, pb::TensorProto::INT64);
    returns(graph, {"go_on", "larger"});
    pb::NodeProto& choice =
        within ? add_inner(graph, "If", {"c"}, "chosen") : builder.node("If", {"c"}, {"chosen"});
    for (const char* name : {"then_branch", "else_branch"}) {
      pb::GraphProto& branch = body(choice, name);
      add_inner(branch, "Relu", {within ? "kept" : "y"}, "given");
      branch.add_output()->set_name("given");
      auto& type = *branch.mutable_output(0)->mutable_type()->mutable_tensor_type();
      type.set_elem_type(pb::TensorProto::FLOAT);
      type.mutable_shape();
      *branch.add_value_info() = branch.output(0);
    }
    const Built model(builder);
    EXPECT_EQ(type_of(model, "given", 2), within ? "float32[...]" : "float32[]");
  }
}

TEST(Bodies, LoopsOfUnknownLengthCountAsGuessed) {
  const std::string bytes = loop("m").bytes();
  const ImportedModel model = import_text(bytes);
  EXPECT_EQ(model.graph_runs(1).at({}), kGuessedTrips);
}

TEST(Bodies, ScansRunAsOftenAsTheirAxisIsLong) {
  ModelBuilder builder;
  builder.input("x", {"n", "3"}).floats("zero", {3}).output("sums", {"n", "3"});
  pb::NodeProto& scan = builder.node("Scan", {"zero", "x"}, {"sum", "sums"});
  test::set_int(scan, "num_scan_inputs", 1);
  pb::GraphProto& step = body(scan, "body");
  for (const char* name : {"before", "element"}) takes(step, name);
  add_inner(step, "Add", {"before", "element"}, "after");
  add_inner(step, "Relu", {"after"}, "shown");
  returns(step, {"after", "shown"});
  const Built model(builder);
  EXPECT_EQ(type_of(model, "shown", 1), "float32[3]");
  EXPECT_EQ(type_of(model, "sum"), "float32[3]");
  EXPECT_EQ(type_of(model, "sums"), "float32[n, 3]");
  graph::Bindings bindings;
  bindings.bind(model.tables().symbol("n"), 7);
  EXPECT_EQ(model.graph_runs(1).at(bindings), 7);
  EXPECT_EQ(model.graph_runs(1).describe(model.tables()), "1 * n");
}

TEST(Bodies, TheBranchThatAConstantRulesOutNeverRuns) {
  ModelBuilder builder = branches();
  builder.initializer("yes", {}, std::vector<std::uint8_t>{1}, pb::TensorProto::BOOL);
  builder.model.mutable_graph()->mutable_node(1)->set_input(0, "yes");
  const Built model(builder);
  EXPECT_EQ(model.graph_runs(1).at({}), 1);
  EXPECT_EQ(model.graph_runs(2).at({}), 0);
  EXPECT_EQ(model.graph_runs(3).at({}), 0) << "nor does what lies in it";
}

TEST(Bodies, DamagedOnesStayClosed) {
  ModelBuilder builder = branches();
  pb::GraphProto& other = *builder.model.mutable_graph()->mutable_node(1)->mutable_attribute(1)->mutable_g();
  add_inner(other, "Neg", {"x"}, "nested");  // defined already
  const Built model(builder);
  EXPECT_THAT(paths(model), ElementsAre(""));
  EXPECT_EQ(export_model_bytes(model, model.graph()), model.bytes);
}

TEST(Bodies, KnownValuesAreConstantsInThem) {
  ModelBuilder builder;
  builder.input("c", {}, pb::TensorProto::BOOL).input("x", {"2", "3"}).output("y", {"2", "3"});
  builder.node("Shape", {"x"}, {"dims"});
  builder.node("Relu", {"x"}, {"r"});
  auto& choice = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    add_inner(body(choice, name), "Reshape", {"r", "dims"}, "shaped");
    returns(*choice.mutable_attribute(choice.attribute_size() - 1)->mutable_g(), {"shaped"});
  }
  const Built model(builder);
  EXPECT_EQ(type_of(model, "shaped", 1), "float32[2, 3]");
  EXPECT_EQ(model.graph(1).node(find_node(model, "shaped", 1)).inputs.size(), 1u);
  EXPECT_EQ(export_model_bytes(model, copies(model)), model.bytes);
}

}  // namespace
}
