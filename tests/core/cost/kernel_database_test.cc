#include "core/cost/kernel_database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/file.h"

namespace regraft::cost {
namespace {

using ::testing::HasSubstr;

KernelSample sample(graph::OpKind kind = graph::OpKind::conv, std::int64_t flops = 5,
                    double measured_us = 12) {
  return {{kind, KernelForm::plain, graph::DType::float32, {flops, 8, 16, 0, 2, 4}},
          10,
          measured_us,
          KernelSource::other_model};
}

class KernelDatabaseTest : public ::testing::Test {
 protected:
  const TempDir folder_;
  const std::filesystem::path file_ = folder_.path() / "kernels.sqlite";
};

TEST_F(KernelDatabaseTest, KeepsWhatWasMeasuredForOtherProcesses) {
  const std::vector<KernelSample> samples{sample(), sample(graph::OpKind::matmul, 7, 3)};
  {
    KernelDatabase database(folder_.path() / "deep/kernels.sqlite");
    database.write("here", samples);
    EXPECT_EQ(database.problem(), "");
  }
  KernelDatabase database(folder_.path() / "deep/kernels.sqlite");
  EXPECT_EQ(database.read("here"), samples);
  EXPECT_TRUE(database.read("elsewhere").empty());
}

TEST_F(KernelDatabaseTest, MeasurementsOfOneKernelAreAveraged) {
  KernelDatabase database(file_);
  for (const double us : {10.0, 20.0, 60.0})
    database.write("here", std::vector{sample(graph::OpKind::conv, 5, us)});
  ASSERT_EQ(database.read("here").size(), 1u);
  EXPECT_NEAR(database.read("here")[0].measured_us, 30, 1e-9);
}

TEST_F(KernelDatabaseTest, ModelsAndCalibrationsAreKeptApart) {
  KernelDatabase database(file_);
  KernelSample one = sample(), calibrated = sample(graph::OpKind::conv, 5, 3);
  calibrated.source = KernelSource::calibration;
  one.source = KernelSource::this_model;
  database.write("here", std::vector{one, calibrated});
  one.source = KernelSource::other_model;
  EXPECT_EQ(database.read("here"), (std::vector{calibrated, one}));
}

TEST_F(KernelDatabaseTest, KernelsThatItCannotTellApartAreNotKept) {
  KernelDatabase database(file_);
  KernelSample lstm = sample(graph::OpKind::opaque, 5, 12);
  database.write("here", std::vector{lstm});
  EXPECT_TRUE(database.read("here").empty());
  lstm.features.op = "LSTM";
  database.write("here", std::vector{lstm});
  EXPECT_EQ(database.read("here"), std::vector{lstm});
  KernelSample unsized = sample();
  unsized.source = KernelSource::unsized;
  database.write("here", std::vector{unsized});
  EXPECT_EQ(database.read("here"), std::vector{lstm});
}

TEST_F(KernelDatabaseTest, ADamagedFileIsSetAside) {
  std::ofstream(file_) << std::string(5000, 'x');
  KernelDatabase database(file_);
  EXPECT_THAT(database.problem(), HasSubstr("set aside as kernels.sqlite.old"));
  EXPECT_EQ(read_file(file_.string() + ".old"), std::string(5000, 'x'));
  database.write("here", std::vector{sample()});
  EXPECT_EQ(database.read("here").size(), 1u);
}

TEST_F(KernelDatabaseTest, AFileOfAnotherVersionIsSetAside) {
  KernelDatabase(file_).write("here", std::vector{sample()});
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 7");
  std::ofstream(file_.string() + ".old") << "kept";
  KernelDatabase database(file_);
  EXPECT_THAT(database.problem(), HasSubstr("another version; set aside as kernels.sqlite.old2"));
  EXPECT_EQ(read_file(file_.string() + ".old"), "kept");
  EXPECT_TRUE(database.usable());
  EXPECT_TRUE(database.read("here").empty());
}

TEST_F(KernelDatabaseTest, WhatIsNotItsOwnIsLeftAlone) {
  const auto model = folder_.path() / "model.onnx", other = folder_.path() / "other.sqlite";
  std::ofstream(model) << std::string(5000, 'x');
  SQLite::Database(other.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE mine (a)");
  for (const auto& file : {model, other}) {
    KernelDatabase database(file);
    EXPECT_FALSE(database.usable());
    EXPECT_THAT(database.problem(), HasSubstr("going on without"));
    EXPECT_FALSE(std::filesystem::exists(file.string() + ".old"));
  }
  EXPECT_EQ(read_file(model), std::string(5000, 'x'));
  EXPECT_TRUE(SQLite::Database(other.string(), SQLite::OPEN_READONLY).tableExists("mine"));
}

TEST_F(KernelDatabaseTest, IsReadWhileAnotherProcessWrites) {
  KernelDatabase(file_).write("here", std::vector{sample()});
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  KernelDatabase database(file_);
  EXPECT_EQ(database.problem(), "");
  EXPECT_EQ(database.read("here").size(), 1u);
}

TEST_F(KernelDatabaseTest, GoesOnWithoutAFileThatCannotBeMade) {
  std::ofstream(folder_.path() / "file") << "not a folder";
  KernelDatabase database(folder_.path() / "file/kernels.sqlite");
  EXPECT_THAT(database.problem(), HasSubstr("going on without"));
  database.write("here", std::vector{sample()});
  EXPECT_TRUE(database.read("here").empty());
}

TEST_F(KernelDatabaseTest, GoesOnWithoutAFileThatAnotherProcessHolds) {
  KernelDatabase database(file_);
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  database.write("here", std::vector{sample()});
  EXPECT_THAT(database.problem(), HasSubstr("locked"));
  EXPECT_TRUE(database.read("here").empty());
}

TEST_F(KernelDatabaseTest, GoesOnWithoutAFileThatMayOnlyBeRead) {
  KernelDatabase(file_).write("here", std::vector{sample()});
  ASSERT_EQ(::chmod(file_.c_str(), 0444), 0);
  const uid_t user = ::geteuid(), nobody = 65534;
  for (const mode_t mode : {0555u, 0777u}) {
    ASSERT_EQ(::chmod(folder_.path().c_str(), mode), 0);
    ASSERT_EQ(::seteuid(user == 0 ? nobody : user), 0) << "root may write everywhere";
    KernelDatabase database(file_);
    database.write("here", std::vector{sample(graph::OpKind::conv, 7, 12)});
    ASSERT_EQ(::seteuid(user), 0);
    EXPECT_THAT(database.problem(), HasSubstr("going on without")) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_EQ(KernelDatabase(file_).read("here").size(), 1u);
}

TEST_F(KernelDatabaseTest, OnAFullDiskItKeepsWhatItHad) {
  KernelDatabase(file_).write("here", std::vector{sample()});
  std::vector<KernelSample> many;
  for (int i = 0; i < 5000; ++i) many.push_back(sample(graph::OpKind::matmul, i, 12));
  const rlimit full{65536, RLIM_INFINITY};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  KernelDatabase database(file_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  database.write("here", many);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_THAT(database.problem(), HasSubstr("measured kernels are not kept ("));
  EXPECT_EQ(KernelDatabase(file_).read("here").size(), 1u);
}

TEST(DeviceFingerprint, TellsThreadsAndRatesApart) {
  const TempDir folder;
  std::ofstream(folder.path() / "a.toml") << "a";
  std::ofstream(folder.path() / "b.toml") << "b";
  EXPECT_EQ(device_fingerprint(folder.path() / "a.toml", "1.0", 1),
            device_fingerprint(folder.path() / "a.toml", "1.0", 1));
  EXPECT_NE(device_fingerprint(folder.path() / "a.toml", "1.0", 1),
            device_fingerprint(folder.path() / "a.toml", "1.0", 2));
  EXPECT_NE(device_fingerprint(folder.path() / "a.toml", "1.0", 1),
            device_fingerprint(folder.path() / "b.toml", "1.0", 1));
}

}  // namespace
}
