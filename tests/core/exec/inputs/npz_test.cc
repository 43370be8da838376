#include "core/exec/inputs/npz.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/exec/inputs/npz_files.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using testing::npy;
using testing::npz;

std::string error(const std::string& bytes) {
  const TempDir folder;
  try {
    write_file_atomic(folder.path() / "bad.npz", bytes);
    read_npz(folder.path() / "bad.npz");
  } catch (const ExecError& failure) {
    return failure.what();
  }
  return "no error";
}

TEST(Npz, ReadsArchivesStoredAndCompressed) {
  const std::string x = npy("<f4", "(2, 3)", floats({1, 2, 3, 4, 5, 6})), flag = npy("|b1", "()", "\x01");
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "in.npz";
  for (const bool compressed : {false, true}) {
    write_file_atomic(file, npz({{"x", x}, {"flag", flag}}, compressed));
    const auto tensors = read_npz(file);
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_THAT(tensors.at("x").dims, ElementsAre(2, 3));
    EXPECT_THAT(tensors.at("x").as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(tensors.at("flag").dtype, DType::boolean);
    EXPECT_TRUE(tensors.at("flag").dims.empty());
  }
}

TEST(Npz, ReadsArraysOfColumns) {
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "in.npz";
  const std::string x = npy("<f4", "(2, 3)", floats({1, 4, 2, 5, 3, 6}), "True"),
                    deep = npy("<f4", "(2, 1, 2, 2)", floats({1, 5, 3, 7, 2, 6, 4, 8}), "True"),
                    none = npy("<f4", "(0, 3)", "", "True");
  write_file_atomic(file, npz({{"x", x}, {"deep", deep}, {"none", none}}, false));
  const auto tensors = read_npz(file);
  EXPECT_THAT(tensors.at("x").dims, ElementsAre(2, 3));
  EXPECT_THAT(tensors.at("x").as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(tensors.at("deep").as<float>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(tensors.at("none").dims, ElementsAre(0, 3));
}

TEST(Npz, ReadsWhatIsWritten) {
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "out.npz";
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> one{7};
  const Tensor x = Tensor::of<float>(DType::float32, {2, 3}, numbers),
               scalar = Tensor::of<std::int64_t>(DType::int64, {}, one);
  write_npz(file, {x, scalar});
  const auto tensors = read_npz(file);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors.at("arr_0"), x);
  EXPECT_EQ(tensors.at("arr_1"), scalar);
  EXPECT_THROW(write_npz(file, {{DType::string, {1}, {}, {"text"}}}), ExecError);
}

TEST(Npz, RefusesDamage) {
  const std::string good = npz({{"x", npy("<f4", "(2,)", floats({1, 2}))}}, true);
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_NE(error(good.substr(0, size)), "no error") << size;
  EXPECT_THAT(error(npz({{"x", npy(">f4", "(2,)", floats({1, 2}))}}, false)), HasSubstr("element type"));
  EXPECT_THAT(error(npz({{"x", npy("<f4", "(3,)", floats({1, 2}))}}, false)), HasSubstr("truncated"));
  EXPECT_THAT(error(npz({{"x", "text"}}, false)), HasSubstr("no array"));
}

}  // namespace
}
