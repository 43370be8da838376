#include <gtest/gtest.h>

#include <functional>

#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::OpKind;
using test::ModelBuilder;

void set_texts(pb::NodeProto& node, const std::string& name, const std::vector<std::string>& texts) {
  auto& attribute = test::add_attribute(node, name, pb::AttributeProto::STRINGS);
  for (const std::string& text : texts) attribute.add_strings(text);
}

/// What an LSTM (or a GRU) of hidden size 16 is imported as.
OpKind kind_of(const std::string& op, const std::function<void(pb::NodeProto&)>& change,
               const std::vector<std::string>& inputs = {"x", "w", "r", "b", "", "h"}) {
  const std::string rows = op == "LSTM" ? "64" : "48", both = op == "LSTM" ? "128" : "96";
  ModelBuilder builder;
  builder.input("x", {"time", "1", "8"}).input("w", {"1", rows, "8"}).input("r", {"1", rows, "16"});
  builder.input("b", {"1", both}).input("h", {"1", "1", "16"}).input("p", {"1", "48"});
  builder.input("lengths", {"1"}, pb::TensorProto::INT32).output("y", {"time", "1", "1", "16"});
  pb::NodeProto& node = builder.node(op, inputs, {"y"});
  test::set_int(node, "hidden_size", 16);
  change(node);
  const std::string bytes = builder.bytes();
  const ImportedModel model = test::import_text(bytes);
  return model.graph().node(test::find_node(model, "y")).kind;
}

TEST(RecurrentNodes, OneDirectionOfTheUsualFunctionsIsKnown) {
  EXPECT_EQ(kind_of("LSTM", [](pb::NodeProto&) {}), OpKind::lstm);
  EXPECT_EQ(kind_of("LSTM", [](pb::NodeProto&) {}, {"x", "w", "r"}), OpKind::lstm);
  EXPECT_EQ(kind_of("LSTM",
                    [](pb::NodeProto& node) {
                      test::set_text(node, "direction", "forward");
                      test::set_int(node, "layout", 0);
                      test::set_int(node, "input_forget", 0);
                      set_texts(node, "activations", {"Sigmoid", "Tanh", "Tanh"});
                    }),
            OpKind::lstm);
  EXPECT_EQ(kind_of("GRU", [](pb::NodeProto& node) { test::set_int(node, "linear_before_reset", 1); }),
            OpKind::gru);
}

TEST(RecurrentNodes, AllOthersStayAsTheyAre) {
  struct Case {
    const char *op, *why;
    std::function<void(pb::NodeProto&)> change = [](pb::NodeProto&) {};
    std::vector<std::string> inputs = {"x", "w", "r", "b", "", "h"};
  };
  const std::vector<Case> cases = {
      {"LSTM", "backwards", [](auto& node) { test::set_text(node, "direction", "reverse"); }},
      {"LSTM", "batch first", [](auto& node) { test::set_int(node, "layout", 1); }},
      {"LSTM", "coupled gates", [](auto& node) { test::set_int(node, "input_forget", 1); }},
      {"LSTM", "a bound", [](auto& node) { test::set_float(node, "clip", 3); }},
      {"LSTM", "other functions",
       [](auto& node) {
         set_texts(node, "activations", {"Sigmoid", "Tanh", "Relu"});
       }},
      {"LSTM", "two functions",
       [](auto& node) {
         set_texts(node, "activations", {"Sigmoid", "Tanh"});
       }},
      {"LSTM", "lengths", [](auto&) {}, {"x", "w", "r", "b", "lengths", "h"}},
      {"LSTM", "peepholes", [](auto&) {}, {"x", "w", "r", "b", "", "h", "h", "p"}},
      {"GRU", "reset before its product", [](auto&) {}},
      {"GRU", "the same, said", [](auto& node) { test::set_int(node, "linear_before_reset", 0); }},
  };
  for (const Case& one : cases) EXPECT_EQ(kind_of(one.op, one.change, one.inputs), OpKind::opaque) << one.why;
}

TEST(RecurrentNodes, AnOutputThatWasLeftOutIsWrittenOnceItIsRead) {
  ModelBuilder builder;
  builder.input("x", {"time", "1", "8"}).input("w", {"1", "64", "8"}).input("r", {"1", "64", "16"});
  builder.output("y", {"time", "1", "1", "16"}).output("h", {"1", "1", "16"}).output("c", {"1", "1", "16"});
  for (const std::vector<std::string>& outputs :
       std::vector<std::vector<std::string>>{{"y"}, {"", "h"}, {"", "", "c"}})
    test::set_int(builder.node("LSTM", {"x", "w", "r"}, outputs), "hidden_size", 16);
  const std::string bytes = builder.bytes();
  const ImportedModel model = test::import_text(bytes);
  for (const char* kept : {"y", "h", "c"}) {
    graph::Graph graph = model.graph();
    const graph::NodeId id = test::find_node(model, kept);
    std::uint32_t k = 0;
    for (const char* other : {"y", "h", "c"}) {
      const graph::NodeId replaced = test::find_node(model, other);
      graph.replace_uses({replaced, k}, {id, k});
      if (replaced != id) graph.remove(replaced);
      ++k;
    }
    const std::string written = export_model_bytes(model, graph);
    const ImportedModel again = test::import_text(written);
    EXPECT_EQ(test::find_node(again, "y"), test::find_node(again, "c")) << kept;
    EXPECT_EQ(test::find_node(again, "y"), test::find_node(again, "h")) << kept;
  }
}

}  // namespace
}
