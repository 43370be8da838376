#include "core/exec/inputs/user_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/inputs/npz_files.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using testing::npy;
using testing::npz;
using testing::TempFolder;

class UserInputsTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    write_file_atomic(folder_ / name, bytes);
    return folder_ / name;
  }
  TempFolder folder_;
};

TEST_F(UserInputsTest, FillInputsByNameOrInOrder) {
  ::onnx::TensorProto proto;
  proto.set_data_type(::onnx::TensorProto::FLOAT);
  proto.add_dims(1);
  proto.add_dims(3);
  for (const float value : {7.0f, 8.0f, 9.0f}) proto.add_float_data(value);
  std::filesystem::create_directory(folder_ / "set");
  write("set/input_0.pb", proto.SerializeAsString());
  write("set/output_0.pb", "not read");
  const std::vector<ValueInfo> wanted{{"x", DType::float32, {{-1, "batch"}, {3, ""}}}};
  Rng rng(0, "unused");
  const std::vector<std::filesystem::path> folder{folder_ / "set"};
  const UserInputs inputs = UserInputs::load(folder);
  EXPECT_THAT(inputs.draw(wanted, {}, rng).at(0).as<float>(), ElementsAre(7, 8, 9));
  EXPECT_EQ(inputs.sizes(wanted), (SymbolSizes{{"batch", 1}}));
  const std::vector<ValueInfo> other{{"x", DType::int64, {{-1, "batch"}, {3, ""}}}};
  EXPECT_THROW(inputs.draw(other, {}, rng), ExecError);
  EXPECT_THROW(UserInputs::load(std::vector<std::filesystem::path>{"in.txt"}), ExecError);
}

TEST_F(UserInputsTest, LeaveWhatIsNotGivenToOthers) {
  const std::vector<std::filesystem::path> files{
      write("in.npz", npz({{"x", npy("<f4", "(5, 3)", floats(std::vector<float>(15, 2)))}}, false))};
  const std::vector<ValueInfo> wanted{{"x", DType::float32, {{-1, "batch"}, {3, ""}}},
                                      {"z", DType::float32, {{-1, "batch"}, {-1, "n"}}}};
  const UserInputs inputs = UserInputs::load(files, std::make_unique<RandomInputs>());
  Rng rng(0, "inputs");
  EXPECT_EQ(inputs.sizes(wanted), (SymbolSizes{{"batch", 5}}));
  const std::vector<Tensor> drawn = inputs.draw(wanted, {{"batch", 5}, {"n", 2}}, rng);
  EXPECT_THAT(drawn[0].as<float>(), ::testing::Each(2));
  EXPECT_THAT(drawn[1].dims, ElementsAre(5, 2));
  EXPECT_THROW(UserInputs::load(files).draw(wanted, {}, rng), ExecError);
}

TEST_F(UserInputsTest, RefuseAnArrayThatIsNoInput) {
  const std::vector<std::filesystem::path> files{
      write("in.npz", npz({{"imagee", npy("<f4", "(1, 3)", floats({1, 2, 3}))}}, false))};
  const UserInputs inputs = UserInputs::load(files, std::make_unique<RandomInputs>());
  const std::vector<ValueInfo> wanted{{"image", DType::float32, {{1, ""}, {3, ""}}}};
  try {
    inputs.sizes(wanted);
    FAIL() << "taken";
  } catch (const ExecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'image'"));
  }
}

TEST_F(UserInputsTest, AreWhatModelsAreComparedOn) {
  const auto a = affine(2, 1).write(folder_ / "a.onnx"), b = affine(2.5f, 1).write(folder_ / "b.onnx");
  const std::vector<std::filesystem::path> files{
      write("in.npz", npz({{"x", npy("<f4", "(5, 3)", floats(std::vector<float>(15, 0)))}}, false))};
  const UserInputs inputs = UserInputs::load(files);
  EquivalenceOptions options;
  options.inputs = &inputs;
  const EquivalenceReport report = check_equivalence(a, b, options);
  EXPECT_TRUE(report.equivalent) << "both give 1 where x is 0";
  EXPECT_THAT(report.bindings, ElementsAre("batch=5"));
}

}  // namespace
}
