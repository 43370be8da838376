#include "core/base/find_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

class Installation : public ::testing::Test {
 protected:
  void SetUp() override { fs::current_path(folder_.path()); }
  void TearDown() override { fs::current_path(before_); }

 private:
  const fs::path before_ = fs::current_path();
  const TempDir folder_;
};

TEST_F(Installation, ItsFilesAreFoundFromAnywhere) {
  EXPECT_TRUE(fs::equivalent(find_config("configs/rules"), REGRAFT_SOURCE_DIR "/configs/rules"));
  fs::create_directories("configs/rules");
  EXPECT_TRUE(fs::equivalent(find_config("configs/rules"), REGRAFT_SOURCE_DIR "/configs/rules"))
      << "a namesake here is passed over";
  EXPECT_EQ(find_config("./configs/rules"), "./configs/rules");
}

TEST_F(Installation, WhatIsNowhereStaysAsGiven) {
  EXPECT_EQ(find_config("configs/no-such-file"), "configs/no-such-file");
  EXPECT_EQ(find_config("/no/such/file"), "/no/such/file");
}

/// What the installation's own command finds in a folder with such a copy of its configs.
std::string warning_beside(const std::string& contents) {
  fs::create_directories("configs/devices");
  const std::string name =
      "configs/devices/" + std::string(contents.empty() ? "README.md" : "cpu-1core.toml");
  write_file_atomic(name, contents.empty() ? read_file(REGRAFT_SOURCE_DIR "/" + name) : contents);
  ::testing::internal::CaptureStderr();
  find_config(name);
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(Installation, ANamesakeIsWarnedOfWhereItSaysSomethingElse) {
  EXPECT_EQ(warning_beside(""), "");
  EXPECT_THAT(warning_beside("name = 3"), ::testing::HasSubstr("write ./configs/devices/cpu-1core.toml"));
}

}  // namespace
}
