#include "launch/optimise/aside_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "core/base/atomic_file.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AsideFolderTest : public ::testing::Test {
 protected:
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_.path())) names.push_back(entry.path().filename());
    return names;
  }
  /// In a process of its own, which writes while the signal is held up.
  void end_by(int signal) const {
    ::signal(signal, SIG_DFL);  // a shell in the background ignores some
    AsideFolder folder(dir_.path());
    {
      const auto held = folder.hold_signals();
      ::kill(::getpid(), signal);
      for (int file = 0; file < 100; ++file) write_file_atomic(folder.path() / std::to_string(file), "");
      write_file_atomic(dir_.path() / "whole", "");
    }
    while (true) ::pause();
  }

  TempDir dir_;
};

TEST_F(AsideFolderTest, ASignalThatIsHeldWaitsAndThenLeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(end_by(signal), ::testing::KilledBySignal(signal), "");
    EXPECT_THAT(left(), ElementsAre("whole"));
    fs::remove(dir_.path() / "whole");
  }
}

TEST_F(AsideFolderTest, IsHiddenHasTheModeOfNewFilesAndGoesWithItsObject) {
  const mode_t mask = ::umask(027);
  {
    const AsideFolder one(dir_.path()), two(dir_.path());
    EXPECT_NE(one.path(), two.path());
    for (const fs::path& path : {one.path(), two.path()}) {
      EXPECT_EQ(path.parent_path(), dir_.path());
      EXPECT_TRUE(path.filename().string().starts_with("."));
      EXPECT_EQ(fs::status(path).permissions(), fs::perms(0750));
    }
    write_file_atomic(one.path() / "file", "half of it");
  }
  EXPECT_EQ(::umask(mask), 027U) << "as it was";
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_THROW(AsideFolder(dir_.path() / "missing"), FileError);
}

}  // namespace
}
