#include "core/exec/runtime/ort_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using ::testing::Not;
using testing::TempFolder;

std::string load_failure(const std::filesystem::path& path) {
  try {
    OrtSession session(path);
  } catch (const ExecError& error) {
    return error.what();
  }
  return "loaded";
}

TEST(OrtSession, DescribesAndRunsAModelWithASymbolicDim) {
  const TempFolder folder;
  OrtSession session(affine(2, 1).write(folder / "m.onnx"));
  ASSERT_EQ(session.inputs().size(), 1u);
  EXPECT_EQ(session.inputs()[0].describe(), "x: float32[batch, 3]");
  EXPECT_EQ(session.outputs()[0].describe(), "y: float32[batch, 3]");

  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const Tensor input = Tensor::of<float>(DType::float32, {2, 3}, x);
  const std::vector<Tensor> results = session.run({&input, 1});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].dims, ElementsAre(2, 3));
  EXPECT_THAT(results[0].as<float>(), ElementsAre(3, 5, 7, 9, 11, 13));
}

TEST(OrtSession, NamesAnonymousAxesAfterTheirValue) {
  const TempFolder folder;
  for (const char* nameless : {"", "?", "None", "-1"}) {
    ModelBuilder model;
    model.input("x", {nameless, 3}).output("y", {nameless, 3});
    model.node("Relu", {"x"}, {"y"});
    OrtSession session(model.write(folder / "m.onnx"));
    EXPECT_EQ(session.inputs()[0].dims[0].symbol, "x.0") << nameless;
  }
}

TEST(OrtSession, RunsStringsAndBooleans) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("s", {2}, ::onnx::TensorProto::STRING).output("t", {2}, ::onnx::TensorProto::STRING);
  model.input("b", {2}, ::onnx::TensorProto::BOOL).output("n", {2}, ::onnx::TensorProto::BOOL);
  model.node("Identity", {"s"}, {"t"});
  model.node("Not", {"b"}, {"n"});
  OrtSession session(model.write(folder / "m.onnx"));
  const std::vector<std::uint8_t> flags{1, 0};
  const std::vector<Tensor> inputs{{DType::string, {2}, {}, {"left", "right"}},
                                   Tensor::of<std::uint8_t>(DType::boolean, {2}, flags)};
  const std::vector<Tensor> results = session.run(inputs);
  EXPECT_THAT(results[0].strings, ElementsAre("left", "right"));
  EXPECT_THAT(results[1].as<std::uint8_t>(), ElementsAre(0, 1));
}

TEST(OrtSession, FeedsAndGivesSequences) {
  const TempFolder folder;
  ModelBuilder model;
  model.sequence_input("s", {"n"}).input("x", {"n"}).sequence_output("longer").output("first", {"n"});
  model.weight("two", {1}, {2}).integers("at", {0});
  model.node("SequenceInsert", {"s", "x"}, {"longer"});
  model.graph().mutable_initializer(1)->clear_dims();
  model.node("SequenceAt", {"longer", "at"}, {"first"});
  OrtSession session(model.write(folder / "m.onnx"));
  EXPECT_EQ(session.inputs()[0].describe(), "s: sequence of float32[n]");
  const auto one = [](float value) { return Tensor::of<float>(DType::float32, {1}, std::vector{value}); };
  const Tensor sequence{DType::float32, {}, {}, {}, Container::sequence, {one(5), one(6)}};
  const std::vector<Tensor> results = session.run(std::vector{sequence, one(7)});
  EXPECT_EQ(describe(results[0]), "sequence (float32[1], float32[1], float32[1])");
  EXPECT_EQ(results[0].items[2], one(7));
  EXPECT_EQ(results[1], one(5));
  EXPECT_THAT(to_doubles(results[0]), ElementsAre(5, 6, 7));
  EXPECT_THROW(session.run(std::vector{one(5), one(7)}), ExecError) << "a tensor is no sequence";
}

TEST(OrtSession, AnOptionalOutputMayBeAbsent) {
  const TempFolder folder;
  ModelBuilder model;
  model.opset(18).input("x", {1}).output("y", {1});
  ModelBuilder::make_optional(&model.output_type(0));
  onnx::test::add_attribute(model.node("Optional", {}, {"y"}), "type", ::onnx::AttributeProto::TYPE_PROTO)
      .mutable_tp()
      ->mutable_tensor_type()
      ->set_elem_type(::onnx::TensorProto::FLOAT);
  OrtSession session(model.write(folder / "m.onnx"));
  const Tensor x = Tensor::of<float>(DType::float32, {1}, std::vector{1.0f});
  EXPECT_EQ(session.run({&x, 1}).at(0).container, Container::nothing);
}

TEST(OrtSession, SaysWhatIsWrongWithAFileThatIsNoModel) {
  const TempFolder folder;
  EXPECT_THAT(load_failure(folder / "none.onnx"), AllOf(HasSubstr("none.onnx"), HasSubstr("no such file")));
  EXPECT_THAT(load_failure(folder / ""), HasSubstr("is a directory"));
  std::ofstream(folder / "empty.onnx").flush();
  EXPECT_THAT(load_failure(folder / "empty.onnx"), HasSubstr("the file is empty"));
  std::ofstream(folder / "text.onnx") << "this is not a model at all";
  EXPECT_THAT(load_failure(folder / "text.onnx"), HasSubstr("not an ONNX model"));
  const std::string whole = affine(2, 1).bytes();
  std::ofstream(folder / "cut.onnx", std::ios::binary) << whole.substr(0, whole.size() * 2 / 3);
  EXPECT_THAT(load_failure(folder / "cut.onnx"), HasSubstr("truncated"));
}

TEST(OrtSession, SpeaksOfExternalDataWhereThatIsWrong) {
  const TempFolder folder;
  ModelBuilder lacking = affine(2, 1);
  ::onnx::TensorProto& scale = *lacking.graph().mutable_initializer(0);
  scale.clear_raw_data();
  scale.set_data_location(::onnx::TensorProto::EXTERNAL);
  scale.add_external_data()->set_key("location");
  scale.mutable_external_data(0)->set_value("scale.bin");
  EXPECT_THAT(load_failure(lacking.write(folder / "lacking.onnx")), HasSubstr("its external data must"));
  ModelBuilder foreign;
  foreign.input("s", {2}, ::onnx::TensorProto::STRING).output("t", {2}, ::onnx::TensorProto::STRING);
  ::onnx::NodeProto& normalizer = foreign.node("StringNormalizer", {"s"}, {"t"});
  testing::set_text(normalizer, "case_change_action", "LOWER");
  testing::set_text(normalizer, "locale", "no_SUCH");
  EXPECT_THAT(load_failure(foreign.write(folder / "foreign.onnx")),
              AllOf(HasSubstr("locale"), Not(HasSubstr("external data"))));
}

TEST(OrtSession, NamesAnOpWithoutAKernel) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {2}).output("y", {2});
  model.node("NoSuchOp", {"x"}, {"y"});
  EXPECT_THAT(load_failure(model.write(folder / "m.onnx")), HasSubstr("NoSuchOp"));
}

TEST(OrtSession, RefusesInputsThatDoNotFit) {
  const TempFolder folder;
  OrtSession session(affine(2, 1).write(folder / "m.onnx"));
  const std::vector<float> x{1, 2, 3};
  const std::vector<std::int64_t> integers{1, 2, 3};
  EXPECT_THROW(session.run({}), ExecError);
  const Tensor wrong_type = Tensor::of<std::int64_t>(DType::int64, {1, 3}, integers);
  EXPECT_THROW(session.run({&wrong_type, 1}), ExecError);
  const Tensor wrong_count = Tensor::of<float>(DType::float32, {2, 3}, x);
  EXPECT_THROW(session.run({&wrong_count, 1}), ExecError);
  const Tensor wrong_dims = Tensor::of<float>(DType::float32, {3, 1}, x);
  EXPECT_THROW(session.run({&wrong_dims, 1}), ExecError);
}

TEST(OrtSession, TimesBetweenItsBounds) {
  const TempFolder folder;
  OrtSession session(affine(2, 1).write(folder / "m.onnx"));
  const std::vector<float> x{1, 2, 3};
  const Tensor input = Tensor::of<float>(DType::float32, {1, 3}, x);
  EXPECT_EQ(session.time_runs_ms({&input, 1}, {2, 4, 9, 0}).size(), 4u);
  EXPECT_EQ(session.time_runs_ms({&input, 1}, {2, 4, 9, 1e9}).size(), 9u);
}

}  // namespace
}
