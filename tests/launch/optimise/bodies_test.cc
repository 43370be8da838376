// `regraft optimise` on models whose work lies in bodies and in model-local functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/onnx/model_builder.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;
using onnx::test::add_inner;
using onnx::test::ModelBuilder;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

constexpr std::int64_t kRows = 8, kWidth = 64;

/// x * c * c, which some rule makes one product.
void scale_twice(pb::GraphProto& graph, const std::string& x, const std::string& out) {
  add_inner(graph, "Mul", {x, "c"}, "once_of_" + out);
  add_inner(graph, "Mul", {"once_of_" + out, "c"}, "twice_of_" + out);
  add_inner(graph, "MatMul", {"twice_of_" + out, "w"}, out);
}

/// The body of a loop that goes on until its rounds are over, if they ever are.
void scale_each_round(pb::NodeProto& loop) {
  pb::GraphProto& round = onnx::test::body(loop, "body");
  onnx::test::set_type(*round.add_input()->mutable_type(), pb::TensorProto::INT64, {});
  onnx::test::set_type(*round.add_input()->mutable_type(), pb::TensorProto::BOOL, {});
  onnx::test::set_type(*round.add_input()->mutable_type(), pb::TensorProto::FLOAT, {"8", "64"});
  for (int i = 0; i < 3; ++i)
    round.mutable_input(i)->set_name(
        std::vector<const char*>{"i", "go", "state"}[static_cast<std::size_t>(i)]);
  add_inner(round, "Identity", {"go"}, "go_on");
  scale_twice(round, "state", "product");
  add_inner(round, "Tanh", {"product"}, "next");
  for (const char* name : {"go_on", "next"}) round.add_output()->set_name(name);
}

/// One branch scales twice; the other is a loop of four rounds that does.
std::string branches() {
  ModelBuilder model;
  model.input("x", {"8", "64"}).input("b", {}, pb::TensorProto::BOOL).output("y", {"8", "64"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.floats("w", {kWidth, kWidth}, -0.1f);
  model.initializer("rounds", {}, std::vector<std::int64_t>{4}, pb::TensorProto::INT64);
  pb::NodeProto& branch = model.node("If", {"b"}, {"y"});
  pb::GraphProto& then = onnx::test::body(branch, "then_branch");
  scale_twice(then, "x", "t");
  then.add_output()->set_name("t");
  pb::GraphProto& other = onnx::test::body(branch, "else_branch");
  scale_each_round(add_inner(other, "Loop", {"rounds", "", "x"}, "e"));
  other.add_output()->set_name("e");
  return model.bytes();
}

/// One branch for a single row, another for more.
std::string branch_by_size() {
  ModelBuilder model;
  model.input("x", {"n", "64"}).output("y", {"n", "64"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.floats("w", {kWidth, kWidth}, -0.1f);
  model.initializer("first", {}, std::vector<std::int64_t>{0}, pb::TensorProto::INT64);
  model.initializer("one", {}, std::vector<std::int64_t>{1}, pb::TensorProto::INT64);
  model.node("Shape", {"x"}, {"dims"});
  model.node("Gather", {"dims", "first"}, {"rows"});
  model.node("Equal", {"rows", "one"}, {"single"});
  pb::NodeProto& branch = model.node("If", {"single"}, {"y"});
  pb::GraphProto& then = onnx::test::body(branch, "then_branch");
  scale_twice(then, "x", "t");
  then.add_output()->set_name("t");
  pb::GraphProto& other = onnx::test::body(branch, "else_branch");
  add_inner(other, "Tanh", {"x"}, "e");
  other.add_output()->set_name("e");
  return model.bytes();
}

/// One branch for a rate, and another that runs for four rows, or one, alone.
std::string branch_of_four_rows() {
  ModelBuilder model;
  model.input("x", {"n", "64"}).input("rate", {}, pb::TensorProto::INT64).output("y", {"m", "64"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.floats("w", {kWidth, kWidth}, -0.1f).floats("four", {4, 1});
  model.initializer("fast", {}, std::vector<std::int64_t>{16000}, pb::TensorProto::INT64);
  model.node("Equal", {"rate", "fast"}, {"is_fast"});
  pb::NodeProto& branch = model.node("If", {"is_fast"}, {"y"});
  pb::GraphProto& then = onnx::test::body(branch, "then_branch");
  scale_twice(then, "x", "t");
  then.add_output()->set_name("t");
  pb::GraphProto& other = onnx::test::body(branch, "else_branch");
  add_inner(other, "Add", {"x", "four"}, "e");
  other.add_output()->set_name("e");
  return model.bytes();
}

std::string endless() {
  ModelBuilder model;
  model.input("x", {"8", "64"}).input("b", {}, pb::TensorProto::BOOL).output("y", {"8", "64"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.floats("w", {kWidth, kWidth}, -0.1f);
  model.initializer("rounds", {}, std::vector<std::int64_t>{INT64_MAX}, pb::TensorProto::INT64);
  scale_each_round(model.node("Loop", {"rounds", "", "x"}, {"y"}));
  return model.bytes();
}

/// The branch that runs is a Relu. In the other one a size decides the rank of what an LSTM reads, which the
/// runtime finds out when it optimises.
std::string bad_branch() {
  ModelBuilder model;
  model.input("x", {"1", "64"}).input("b", {}, pb::TensorProto::BOOL).output("y", {"1", "64"});
  model.floats("w", {1, 4, 64}).floats("r", {1, 4, 1});
  model.initializer("first", {}, std::vector<std::int64_t>{0}, pb::TensorProto::INT64);
  model.initializer("one", {}, std::vector<std::int64_t>{1}, pb::TensorProto::INT64);
  model.initializer("axes", {1}, std::vector<std::int64_t>{0}, pb::TensorProto::INT64);
  pb::NodeProto& branch = model.node("If", {"b"}, {"y"});
  pb::GraphProto& then = onnx::test::body(branch, "then_branch");
  add_inner(then, "Relu", {"x"}, "once");
  add_inner(then, "Shape", {"once"}, "dims");
  add_inner(then, "Gather", {"dims", "first"}, "rows");
  add_inner(then, "Equal", {"rows", "one"}, "single");
  pb::NodeProto& inner = add_inner(then, "If", {"single"}, "sequence");
  pb::GraphProto& flat = onnx::test::body(inner, "then_branch");
  add_inner(flat, "Identity", {"once"}, "same");
  flat.add_output()->set_name("same");
  pb::GraphProto& deep = onnx::test::body(inner, "else_branch");
  add_inner(deep, "Unsqueeze", {"once", "axes"}, "deeper");
  deep.add_output()->set_name("deeper");
  onnx::test::set_int(add_inner(then, "LSTM", {"sequence", "w", "r"}, "t"), "hidden_size", 1);
  then.add_output()->set_name("t");
  pb::GraphProto& other = onnx::test::body(branch, "else_branch");
  add_inner(other, "Relu", {"x"}, "e");
  other.add_output()->set_name("e");
  return model.bytes();
}

/// The whole model is a call of a function that scales twice.
std::string function_call() {
  ModelBuilder model;
  model.input("x", {"8", "64"}).output("y", {"8", "64"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.floats("w", {kWidth, kWidth}, -0.1f);
  pb::FunctionProto& scale = *model.model.add_functions();
  scale.set_domain("own");
  scale.set_name("Scale");
  for (const char* name : {"a", "c", "w"}) scale.add_input(name);
  scale.add_output("out");
  pb::GraphProto nodes;
  scale_twice(nodes, "a", "out");
  scale.mutable_node()->CopyFrom(nodes.node());
  *scale.add_opset_import() = model.model.opset_import(0);
  auto* own = model.model.add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  model.node("Scale", {"x", "c", "w"}, {"y"}).set_domain("own");
  return model.bytes();
}

class BodiesTest : public ::testing::Test {
 protected:
  void optimise(const std::string& bytes, const std::vector<std::string>& more = {}) {
    write_file_atomic(in_, bytes);
    const Captured result = testing::run_with(
        {"optimise", in_.string(), "-o", out_.string(), "--search", "greedy", "--accept", "cost", "--quiet",
         "--log", log_.string(), "--json", (dir_.path() / "r.json").string()},
        more);
    ASSERT_EQ(result.status.code, 0) << result.errors;
    report_ = json_of(dir_.path() / "r.json");
    EXPECT_TRUE(report_.at("accepted")) << report_;
  }

  void expect_that_the_log_replays() {
    const Captured verified = run({"verify", in_.string(), out_.string(), "--log", log_.string()});
    EXPECT_EQ(verified.status.code, 0) << verified.output << verified.errors;
    EXPECT_THAT(verified.errors, HasSubstr("byte-identical"));
  }

  TempDir dir_;
  fs::path in_ = dir_.path() / "in.onnx", out_ = dir_.path() / "out.onnx",
           log_ = dir_.path() / "rewrites.log";
  nlohmann::json report_;
};

TEST_F(BodiesTest, AreRewrittenCheckedLoggedAndReplayed) {
  optimise(branches());
  expect_that_the_log_replays();
  const std::string log = read_file(log_);
  EXPECT_THAT(log, HasSubstr("\"graph\":\"If_0/then_branch\""));
  EXPECT_THAT(log, HasSubstr("\"graph\":\"If_0/else_branch/Loop_0/body\""));
  EXPECT_LT(report_.at("nodes_after").get<int>(), report_.at("nodes_before").get<int>());
  EXPECT_LT(report_.at("cost_after").get<double>(), report_.at("cost_before").get<double>());

  const Captured explained = run({"explain", log_.string(), "--model", in_.string()});
  ASSERT_EQ(explained.status.code, 0) << explained.errors;
  EXPECT_THAT(explained.output, HasSubstr("If_0/then_branch: Mul twice_of_t"));
  const Captured bisected = run({"explain", log_.string(), "--model", in_.string(), "--bisect", "test -s"});
  EXPECT_EQ(bisected.status.code, 0) << bisected.errors;
  const Captured inspected = run({"inspect", in_.string()});
  EXPECT_THAT(inspected.output, HasSubstr("body If_0/else_branch/Loop_0/body: 5 nodes, runs 4"));
  const Captured usage = run({"rules", "usage", in_.string(), "--searches", "greedy", "--walks", "0"});
  ASSERT_EQ(usage.status.code, 0) << usage.errors;
  EXPECT_THAT(usage.output, HasSubstr(",in,greedy,"));
}

TEST_F(BodiesTest, FunctionsAreOpenedAndRewritten) {
  optimise(function_call());
  expect_that_the_log_replays();
  EXPECT_THAT(read_file(log_), HasSubstr("{\"name\":\"clean-up:inline\",\"nodes\":[0]}"));
  // What the call holds gets names that begin with the function's.
  const Captured bisected =
      run({"explain", log_.string(), "--model", in_.string(), "--bisect", "! grep -q Scale_"});
  EXPECT_EQ(bisected.status.code, 3) << bisected.output << bisected.errors;
  EXPECT_THAT(bisected.output, HasSubstr("first bad: entry 0, clean-up:inline at call 0"));
}

TEST_F(BodiesTest, SizesThatAreFixedDecideBranches) {
  optimise(branch_by_size(), {"--fix", "n=1"});
  expect_that_the_log_replays();
  pb::ModelProto result;
  ASSERT_TRUE(result.ParseFromString(read_file(out_)));
  EXPECT_EQ(result.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 1);
  for (const pb::NodeProto& node : result.graph().node())
    EXPECT_THAT(node.op_type(), ::testing::AnyOf("Mul", "MatMul"));
  EXPECT_EQ(report_.at("dims"), nlohmann::json::parse(R"([{"name": "n", "size": 1, "why": "fixed"}])"));
  EXPECT_EQ(report_.at("sizes").size(), 1u) << "it runs at no other";
  const Captured verified = run({"verify", in_.string(), out_.string(), "--fix", "n=1"});
  EXPECT_EQ(verified.status.code, 0) << verified.errors;
  EXPECT_THAT(verified.output, HasSubstr("note: compared for n=1 alone"));
  EXPECT_EQ(run({"verify", in_.string(), out_.string()}).status.code, 3) << "it takes less";
  EXPECT_THAT(run({"optimise", in_.string(), "-o", out_.string(), "--fix", "m=1"}).errors,
              HasSubstr("regraft: --fix m: "));

  optimise(branch_by_size());
  ASSERT_TRUE(result.ParseFromString(read_file(out_)));
  EXPECT_EQ(result.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "n");
  EXPECT_NE(std::ranges::find(result.graph().node(), "If", &pb::NodeProto::op_type),
            result.graph().node().end());
}

TEST_F(BodiesTest, SizesThatOneBranchCannotHaveAreNotFixed) {
  write_file_atomic(in_, branch_of_four_rows());
  const Captured result =
      run({"optimise", in_.string(), "-o", out_.string(), "--accept", "cost", "--fix", "n=3"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input returned unchanged: a branch may not run at n=3"));
  EXPECT_EQ(read_file(out_), read_file(in_));
}

TEST_F(BodiesTest, WhatTheRuntimeRunsOnlyUnoptimisedComesBack) {
  write_file_atomic(in_, bad_branch());
  const Captured result = run({"optimise", in_.string(), "-o", out_.string(), "--accept", "cost"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input returned unchanged"));
  EXPECT_THAT(result.output, HasSubstr("ONNX Runtime cannot load the model"));
  EXPECT_EQ(read_file(out_), read_file(in_));
}

// The processor time that the test allows is less than what the program allows.
TEST_F(BodiesTest, AModelThatDoesNotEndComesBack) {
  write_file_atomic(in_, endless());
  SpawnOptions spawn;
  spawn.argv = {"/bin/sh",
                "-c",
                "ulimit -S -t 5 && exec \"$0\" \"$@\"",
                testing::program(),
                "optimise",
                in_.string(),
                "-o",
                out_.string(),
                "--accept",
                "cost"};
  const Captured result = capture_output(spawn, std::chrono::minutes(8));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("the model is not loaded and run within 5 s of processor time (give"));
  EXPECT_EQ(read_file(out_), read_file(in_));
}

}  // namespace
}
