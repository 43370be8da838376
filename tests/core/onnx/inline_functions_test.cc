// Calls of model-local functions become nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/onnx/inlined.h"

namespace regraft::onnx {
namespace {

using test::add_inner;
using test::body;
using test::inlined;
using test::ModelBuilder;
using test::ops;
using testing::ElementsAre;
namespace pb = ::onnx;

/// A model of opset 17 with a domain of its own.
struct FunctionModel : ModelBuilder {
  FunctionModel() {
    import_domain(*model.add_opset_import(), "own", 1);
    input("x", {"2"}).output("y", {"2"});
  }

  static void import_domain(pb::OperatorSetIdProto& import, const std::string& domain, std::int64_t version) {
    import.set_domain(domain);
    import.set_version(version);
  }

  pb::FunctionProto& function(const std::string& name, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs, std::int64_t opset = 17) {
    pb::FunctionProto& made = *model.add_functions();
    made.set_domain("own");
    made.set_name(name);
    for (const std::string& input : inputs) made.add_input(input);
    for (const std::string& output : outputs) made.add_output(output);
    import_domain(*made.add_opset_import(), "", opset);
    import_domain(*made.add_opset_import(), "own", 1);
    return made;
  }

  pb::NodeProto& call(const std::string& function, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
    pb::NodeProto& made = node(function, inputs, outputs);
    made.set_domain("own");
    return made;
  }
};

pb::NodeProto& add(pb::FunctionProto& function, const std::string& op, const std::vector<std::string>& inputs,
                   const std::string& output) {
  pb::NodeProto& node = *function.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

/// b = Relu(a) * a, with names that the model has as well.
void add_gate(FunctionModel& builder) {
  pb::FunctionProto& gate = builder.function("Gate", {"a"}, {"b"});
  add(gate, "Relu", {"a"}, "x");
  add(gate, "Mul", {"x", "a"}, "b");
}

TEST(Functions, StayCallsUnlessAskedFor) {
  FunctionModel builder;
  add_gate(builder);
  builder.call("Gate", {"x"}, {"y"});
  EXPECT_EQ(inlined(builder, 0).SerializeAsString(), builder.bytes());
}

TEST(Functions, TakeThePlaceOfEachCallWithNamesOfTheirOwn) {
  FunctionModel builder;
  add_gate(builder);
  builder.call("Gate", {"x"}, {"h"});
  builder.call("Gate", {"h"}, {"y"});
  const pb::ModelProto out = inlined(builder);
  EXPECT_THAT(ops(out), ElementsAre("Relu", "Mul", "Relu", "Mul"));
  EXPECT_EQ(out.functions_size(), 0);
  std::set<std::string> names{"x"};
  for (const auto& node : out.graph().node()) {
    for (const std::string& input : node.input()) EXPECT_TRUE(names.contains(input)) << input;
    EXPECT_TRUE(names.insert(node.output(0)).second) << node.output(0);
  }
  EXPECT_EQ(out.graph().node(1).output(0), "h");
  EXPECT_EQ(out.graph().node(3).output(0), "y");
}

TEST(Functions, AreTakenOneCallAfterTheOther) {
  FunctionModel builder;
  add_gate(builder);
  builder.call("Gate", {"x"}, {"h"});
  builder.call("Gate", {"h"}, {"y"});
  const pb::ModelProto out = inlined(builder, 1);
  EXPECT_THAT(ops(out), ElementsAre("Relu", "Mul", "Gate"));
  EXPECT_EQ(out.functions_size(), 1) << "the second call needs it";
}

TEST(Functions, ThatCallFunctionsAreOpenedToTheEnd) {
  FunctionModel builder;
  add_gate(builder);
  pb::FunctionProto& twice = builder.function("Twice", {"a"}, {"b"});
  add(twice, "Gate", {"a"}, "x").set_domain("own");
  add(twice, "Gate", {"x"}, "b").set_domain("own");
  builder.call("Twice", {"x"}, {"y"});
  const pb::ModelProto out = inlined(builder);
  EXPECT_THAT(ops(out), ElementsAre("Relu", "Mul", "Relu", "Mul"));
  EXPECT_EQ(out.functions_size(), 0);
}

TEST(Functions, AttributesAreThoseOfTheCallElseTheDefaultElseNone) {
  for (const char* way : {"given", "default", "absent"}) {
    FunctionModel builder;
    pb::FunctionProto& leaky = builder.function("Leaky", {"a"}, {"b"});
    test::add_attribute(add(leaky, "LeakyRelu", {"a"}, "b"), "alpha", pb::AttributeProto::FLOAT)
        .set_ref_attr_name("slope");
    pb::NodeProto& call = builder.call("Leaky", {"x"}, {"y"});
    if (way == std::string("given")) {
      leaky.add_attribute("slope");
      test::set_float(call, "slope", 0.5f);
    }
    if (way == std::string("default")) {  // field 11, which the messages of this library do not have
      pb::AttributeProto standard;
      standard.set_name("slope");
      standard.set_type(pb::AttributeProto::FLOAT);
      standard.set_f(0.25f);
      leaky.mutable_unknown_fields()->AddLengthDelimited(11, standard.SerializeAsString());
    }
    const pb::ModelProto out = inlined(builder);
    ASSERT_THAT(ops(out), ElementsAre("LeakyRelu"));
    const pb::NodeProto& node = out.graph().node(0);
    if (way == std::string("absent")) {
      EXPECT_EQ(node.attribute_size(), 0);
      continue;
    }
    ASSERT_EQ(node.attribute_size(), 1);
    EXPECT_EQ(node.attribute(0).name(), "alpha");
    EXPECT_EQ(node.attribute(0).ref_attr_name(), "");
    EXPECT_EQ(node.attribute(0).f(), way == std::string("given") ? 0.5f : 0.25f);
  }
}

TEST(Functions, InputsThatACallLeavesOutStayOut) {
  FunctionModel builder;
  pb::FunctionProto& clip = builder.function("Bound", {"a", "low", "high"}, {"b"});
  add(clip, "Clip", {"a", "low", "high"}, "b");
  builder.initializer("two", {}, std::vector<float>{2}, pb::TensorProto::FLOAT);
  builder.call("Bound", {"x", "", "two"}, {"h"});
  builder.call("Bound", {"h"}, {"y"});
  const pb::ModelProto out = inlined(builder);
  ASSERT_THAT(ops(out), ElementsAre("Clip", "Clip"));
  EXPECT_THAT(out.graph().node(0).input(), ElementsAre("x", "", "two"));
  EXPECT_THAT(out.graph().node(1).input(), ElementsAre("h", "", ""));
}

TEST(Functions, AnOutputThatIsAnInputIsCopied) {
  FunctionModel builder;
  builder.function("Pass", {"a"}, {"a"});
  builder.call("Pass", {"x"}, {"y"});
  const pb::ModelProto out = inlined(builder);
  ASSERT_THAT(ops(out), ElementsAre("Identity"));
  EXPECT_EQ(out.graph().node(0).input(0), "x");
  EXPECT_EQ(out.graph().node(0).output(0), "y");
}

TEST(Functions, BodiesWithinFollowTheNames) {
  FunctionModel builder;
  builder.input("c", {}, pb::TensorProto::BOOL);
  pb::FunctionProto& choose = builder.function("Choose", {"c", "a"}, {"b"});
  add(choose, "Exp", {"a"}, "h");
  pb::NodeProto& branch = add(choose, "If", {"c"}, "b");
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& graph = body(branch, name);
    add_inner(graph, "Add", {"h", "a"}, "x");  // the name that the model's input has
    graph.add_output()->set_name("x");
  }
  builder.call("Choose", {"c", "x"}, {"y"});
  const pb::ModelProto out = inlined(builder);
  ASSERT_THAT(ops(out), ElementsAre("Exp", "If"));
  for (int i : {0, 1}) {
    const pb::GraphProto& graph = out.graph().node(1).attribute(i).g();
    EXPECT_EQ(graph.node(0).input(0), out.graph().node(0).output(0));
    EXPECT_EQ(graph.node(0).input(1), "x") << "what the call gives";
    EXPECT_NE(graph.node(0).output(0), "x");
    EXPECT_EQ(graph.output(0).name(), graph.node(0).output(0));
  }
}

TEST(Functions, CallsInBodiesAreOpenedToo) {
  FunctionModel builder;
  add_gate(builder);
  builder.input("c", {}, pb::TensorProto::BOOL);
  pb::NodeProto& branch = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    add_inner(body(branch, name), "Gate", {"x"}, "g").set_domain("own");
    branch.mutable_attribute(branch.attribute_size() - 1)->mutable_g()->add_output()->set_name("g");
  }
  const pb::ModelProto out = inlined(builder);
  for (int i : {0, 1}) EXPECT_EQ(out.graph().node(0).attribute(i).g().node_size(), 2);
  EXPECT_EQ(out.functions_size(), 0);
}

TEST(Functions, ThatMeanAnotherOpsetOrCallThemselvesAreLeftAlone) {
  FunctionModel older;
  add(older.function("Old", {"a"}, {"b"}, 12), "Relu", {"a"}, "b");
  older.call("Old", {"x"}, {"y"});
  EXPECT_EQ(inlined(older).SerializeAsString(), older.bytes());

  FunctionModel recursive;
  add(recursive.function("Self", {"a"}, {"b"}), "Self", {"a"}, "b").set_domain("own");
  recursive.call("Self", {"x"}, {"y"});
  EXPECT_THAT(ops(inlined(recursive)), ElementsAre("Self"));

  FunctionModel overloaded;
  add(overloaded.function("Many", {"a"}, {"b"}), "Relu", {"a"}, "b");
  overloaded.model.mutable_functions(0)->mutable_unknown_fields()->AddLengthDelimited(13, "other");
  overloaded.call("Many", {"x"}, {"y"});
  EXPECT_EQ(inlined(overloaded).SerializeAsString(), overloaded.bytes());
}

TEST(Functions, OfTheDefaultDomainStandForTheStandardsOwn) {
  FunctionModel builder;
  pb::FunctionProto& own = builder.function("Relu6", {"a"}, {"b"});
  own.set_domain("");
  add(own, "Relu", {"a"}, "b");
  builder.node("Relu6", {"x"}, {"y"});
  EXPECT_EQ(inlined(builder).SerializeAsString(), builder.bytes());
}

}  // namespace
}
