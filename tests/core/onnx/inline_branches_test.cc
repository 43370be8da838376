// An If whose condition is known before the model runs is the branch that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/onnx/inlined.h"

namespace regraft::onnx {
namespace {

using test::add_inner;
using test::body;
using test::inlined;
using test::ModelBuilder;
using test::ops;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
namespace pb = ::onnx;

/// y = yes ? Neg(Exp(x)) : Abs(x), with names in the branches that the model has too.
struct Choice : ModelBuilder {
  explicit Choice(const std::string& condition) {
    input("x", {"2", "3", "n"}).input("c", {}, pb::TensorProto::BOOL).output("y", {"2", "3", "n"});
    initializer("yes", {}, std::vector<std::uint8_t>{1}, pb::TensorProto::BOOL);
    initializer("no", {}, std::vector<std::uint8_t>{0}, pb::TensorProto::BOOL);
    fill(node("If", {condition}, {"y"}));
  }

  static void fill(pb::NodeProto& choice) {
    pb::GraphProto& then = body(choice, "then_branch");
    add_inner(then, "Exp", {"x"}, "h");
    add_inner(then, "Neg", {"h"}, "out");
    then.add_output()->set_name("out");
    pb::GraphProto& other = body(choice, "else_branch");
    add_inner(other, "Abs", {"x"}, "out");
    other.add_output()->set_name("out");
  }
};

TEST(Branches, StayWhereNobodyAsksOrNothingIsKnown) {
  EXPECT_EQ(inlined(Choice("yes"), 0).SerializeAsString(), Choice("yes").bytes());
  EXPECT_EQ(inlined(Choice("c")).SerializeAsString(), Choice("c").bytes());
}

TEST(Branches, ThatAreSureTakeThePlaceOfTheChoice) {
  const pb::ModelProto then = inlined(Choice("yes"));
  ASSERT_THAT(ops(then), ElementsAre("Exp", "Neg"));
  EXPECT_EQ(then.graph().node(0).input(0), "x");
  EXPECT_EQ(then.graph().node(1).input(0), "h");
  EXPECT_EQ(then.graph().node(0).output(0), "h");
  EXPECT_EQ(then.graph().node(1).output(0), "y");
  EXPECT_THAT(ops(inlined(Choice("no"))), ElementsAre("Abs"));
}

TEST(Branches, ARankDecides) {
  Choice builder("is_matrix");
  builder.initializer("two", {}, std::vector<std::int64_t>{2}, pb::TensorProto::INT64);
  builder.node("Shape", {"x"}, {"dims"});
  builder.node("Size", {"dims"}, {"rank"});
  builder.node("Equal", {"rank", "two"}, {"is_matrix"});
  EXPECT_THAT(ops(inlined(builder)), UnorderedElementsAre("Shape", "Size", "Equal", "Abs"));
}

TEST(Branches, ADimAmongOthersThatAreUnknownDecides) {
  Choice builder("has_two");
  builder.initializer("zero", {}, std::vector<std::int64_t>{0}, pb::TensorProto::INT64);
  builder.initializer("two", {}, std::vector<std::int64_t>{2}, pb::TensorProto::INT64);
  builder.node("Shape", {"x"}, {"dims"});
  builder.node("Gather", {"dims", "zero"}, {"first"});
  builder.node("Equal", {"first", "two"}, {"has_two"});
  EXPECT_THAT(ops(inlined(builder)), UnorderedElementsAre("Shape", "Gather", "Equal", "Exp", "Neg"));
}

TEST(Branches, WithinOnesAreTakenAfterThoseAround) {
  Choice builder("c");
  pb::NodeProto& outer = builder.node("If", {"yes"}, {"z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& graph = body(outer, name);
    pb::NodeProto& inner = add_inner(graph, "If", {name[0] == 't' ? "no" : "c"}, "inner");
    Choice::fill(inner);
    graph.add_output()->set_name("inner");
  }
  builder.output("z", {"2", "3", "n"});
  EXPECT_THAT(ops(inlined(builder)), ElementsAre("If", "Abs"));
  const pb::ModelProto once = inlined(builder, 1);
  ASSERT_THAT(ops(once), ElementsAre("If", "If"));
  EXPECT_EQ(once.graph().node(1).input(0), "no");
  EXPECT_EQ(once.graph().node(1).output(0), "z");
}

TEST(Branches, OutputsThatNoNodeOfThemMakesAreCopied) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("a", {"2"}).output("b", {"2"}).output("d", {"2"});
  builder.initializer("yes", {}, std::vector<std::uint8_t>{1}, pb::TensorProto::BOOL);
  pb::NodeProto& choice = builder.node("If", {"yes"}, {"a", "b", "d"});
  body(choice, "then_branch");
  pb::GraphProto& other = body(choice, "else_branch");
  for (int i = 0; i < 3; ++i) other.add_output()->set_name("x");
  pb::GraphProto& then = *choice.mutable_attribute(0)->mutable_g();
  ModelBuilder::fill_tensor(*then.add_initializer(), "kept", {2}, std::vector<float>{1, 2},
                            pb::TensorProto::FLOAT);
  add_inner(then, "Relu", {"x"}, "r");
  for (const char* name : {"kept", "r", "r"}) then.add_output()->set_name(name);
  const pb::ModelProto out = inlined(builder);
  ASSERT_THAT(ops(out), ElementsAre("Constant", "Relu", "Identity"));
  EXPECT_EQ(out.graph().node(0).output(0), "a");
  EXPECT_EQ(out.graph().node(1).output(0), "b");
  EXPECT_EQ(out.graph().node(2).input(0), "b");
  EXPECT_EQ(out.graph().node(2).output(0), "d");
}

}  // namespace
}
