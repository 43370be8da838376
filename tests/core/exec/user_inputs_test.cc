#include "core/exec/user_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/gzip.h"
#include "core/exec/equivalence.h"
#include "core/exec/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;

template <typename T>
void append(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& elements) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 63) / 64 * 64 - 10, ' ');
  std::string out("\x93NUMPY\x01\x00", 8);
  append(out, static_cast<std::uint16_t>(header.size()));
  return out + header + elements;
}

std::string deflated(const std::string& text) {
  constexpr std::size_t kHeader = 10, kTrailer = 8;  // of gzip, about the stream
  const std::string packed = gzip(text);
  return packed.substr(kHeader, packed.size() - kHeader - kTrailer);
}

/// An archive as numpy.savez (or savez_compressed) writes it.
std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays, bool compressed) {
  std::string out, directory;
  for (const auto& [name, contents] : arrays) {
    const std::string packed = compressed ? deflated(contents) : contents, file = name + ".npy";
    std::string common;  // of both headers, from the version needed on
    for (const int field : {20, 0, compressed ? 8 : 0, 0, 0})
      append(common, static_cast<std::uint16_t>(field));
    for (const std::size_t field : {std::size_t{0}, packed.size(), contents.size()})
      append(common, static_cast<std::uint32_t>(field));
    append(common, static_cast<std::uint16_t>(file.size()));
    append(common, std::uint16_t{0});
    const auto offset = static_cast<std::uint32_t>(out.size());
    append(out, std::uint32_t{0x04034b50});
    out += common + file + packed;
    append(directory, std::uint32_t{0x02014b50});
    append(directory, std::uint16_t{20});
    directory += common;
    for (int i = 0; i < 3; ++i) append(directory, std::uint16_t{0});
    append(directory, std::uint32_t{0});
    append(directory, offset);
    directory += file;
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  out += directory;
  append(out, std::uint32_t{0x06054b50});
  append(out, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) append(out, static_cast<std::uint16_t>(arrays.size()));
  append(out, static_cast<std::uint32_t>(directory.size()));
  append(out, begin);
  append(out, std::uint16_t{0});
  return out;
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class UserInputsTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    write_file_atomic(folder_ / name, bytes);
    return folder_ / name;
  }
  std::string error(const std::string& bytes) {
    try {
      read_npz(write("bad.npz", bytes));
    } catch (const ExecError& failure) {
      return failure.what();
    }
    return "no error";
  }
  TempFolder folder_;
};

TEST_F(UserInputsTest, ReadsArchivesStoredAndCompressed) {
  const std::string x = npy("<f4", "(2, 3)", floats({1, 2, 3, 4, 5, 6})), flag = npy("|b1", "()", "\x01");
  for (const bool compressed : {false, true}) {
    const auto tensors = read_npz(write("in.npz", npz({{"x", x}, {"flag", flag}}, compressed)));
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_THAT(tensors.at("x").dims, ElementsAre(2, 3));
    EXPECT_THAT(tensors.at("x").as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(tensors.at("flag").dtype, DType::boolean);
    EXPECT_TRUE(tensors.at("flag").dims.empty());
  }
}

TEST_F(UserInputsTest, RefusesDamage) {
  const std::string good = npz({{"x", npy("<f4", "(2,)", floats({1, 2}))}}, true);
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_NE(error(good.substr(0, size)), "no error") << size;
  EXPECT_THAT(error(npz({{"x", npy(">f4", "(2,)", floats({1, 2}))}}, false)), HasSubstr("element type"));
  EXPECT_THAT(error(npz({{"x", npy("<f4", "(3,)", floats({1, 2}))}}, false)), HasSubstr("truncated"));
  EXPECT_THAT(error(npz({{"x", "text"}}, false)), HasSubstr("no array"));
}

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
}  // namespace regraft::exec
