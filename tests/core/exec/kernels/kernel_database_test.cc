#include "core/exec/kernels/kernel_database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/file.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

cost::KernelSample sample(graph::OpKind kind, std::int64_t flops, double measured_us) {
  return {{kind, cost::KernelForm::plain, graph::DType::float32, {flops, 8, 16, 0, 2, 4}}, 10, measured_us};
}

TEST(KernelDatabase, KeepsWhatWasMeasuredForOtherProcesses) {
  const TempFolder folder;
  const std::vector<cost::KernelSample> samples{sample(graph::OpKind::conv, 5, 12),
                                                sample(graph::OpKind::matmul, 7, 3)};
  {
    KernelDatabase database(folder / "deep/kernels.sqlite");
    database.write("here", samples);
    EXPECT_EQ(database.problem(), "");
  }
  KernelDatabase database(folder / "deep/kernels.sqlite");
  EXPECT_EQ(database.read("here"), samples);
  EXPECT_TRUE(database.read("elsewhere").empty());
}

TEST(KernelDatabase, MeasurementsOfOneKernelAreAveraged) {
  const TempFolder folder;
  KernelDatabase database(folder / "kernels.sqlite");
  for (const double us : {10.0, 20.0, 60.0})
    database.write("here", std::vector{sample(graph::OpKind::conv, 5, us)});
  ASSERT_EQ(database.read("here").size(), 1u);
  EXPECT_NEAR(database.read("here")[0].measured_us, 30, 1e-9);
}

TEST(KernelDatabase, OpsThatItCannotTellApartAreNotKept) {
  const TempFolder folder;
  KernelDatabase database(folder / "kernels.sqlite");
  database.write("here", std::vector{sample(graph::OpKind::opaque, 5, 12)});
  EXPECT_TRUE(database.read("here").empty());
}

TEST(KernelDatabase, ADamagedFileIsSetAside) {
  const TempFolder folder;
  const auto file = folder / "kernels.sqlite";
  std::ofstream(file) << std::string(5000, 'x');
  KernelDatabase database(file);
  EXPECT_THAT(database.problem(), HasSubstr("set aside as kernels.sqlite.old"));
  EXPECT_EQ(read_file(file.string() + ".old"), std::string(5000, 'x'));
  database.write("here", std::vector{sample(graph::OpKind::conv, 5, 12)});
  EXPECT_EQ(database.read("here").size(), 1u);
}

TEST(KernelDatabase, AFileOfAnotherVersionIsSetAside) {
  const TempFolder folder;
  const auto file = folder / "kernels.sqlite";
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE other (a); PRAGMA user_version = 7");
  KernelDatabase database(file);
  EXPECT_THAT(database.problem(), HasSubstr("another version"));
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".old"));
  EXPECT_TRUE(database.read("here").empty());
}

TEST(KernelDatabase, GoesOnWithoutAFileThatCannotBeMade) {
  const TempFolder folder;
  std::ofstream(folder / "file") << "not a folder";
  KernelDatabase database(folder / "file/kernels.sqlite");
  EXPECT_THAT(database.problem(), HasSubstr("going on without them"));
  database.write("here", std::vector{sample(graph::OpKind::conv, 5, 12)});
  EXPECT_TRUE(database.read("here").empty());
}

TEST(KernelDatabase, GoesOnWithoutAFileThatAnotherProcessHolds) {
  const TempFolder folder;
  const auto file = folder / "kernels.sqlite";
  KernelDatabase database(file);
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  database.write("here", std::vector{sample(graph::OpKind::conv, 5, 12)});
  EXPECT_THAT(database.problem(), HasSubstr("locked"));
  EXPECT_TRUE(database.read("here").empty());
}

TEST(DeviceFingerprint, TellsThreadsAndRatesApart) {
  const TempFolder folder;
  std::ofstream(folder / "a.toml") << "a";
  std::ofstream(folder / "b.toml") << "b";
  EXPECT_EQ(device_fingerprint(folder / "a.toml", 1), device_fingerprint(folder / "a.toml", 1));
  EXPECT_NE(device_fingerprint(folder / "a.toml", 1), device_fingerprint(folder / "a.toml", 2));
  EXPECT_NE(device_fingerprint(folder / "a.toml", 1), device_fingerprint(folder / "b.toml", 1));
}

}  // namespace
}  // namespace regraft::exec
