#include "launch/optimise/aside_folder.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>

#include "core/base/atomic_file.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAreArray;

class AsideFolderTest : public ::testing::Test {
 protected:
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_.path())) names.push_back(entry.path().filename());
    return names;
  }
  /// In a process of its own: a folder with a file, then the signal, which is held up.
  void end_by(int signal) const {
    ::signal(signal, SIG_DFL);  // a shell in the background ignores some
    AsideFolder folder(dir_.path(), "m.onnx");
    write_file_atomic(folder.path() / "file", "half of it");
    {
      const MutexLock held = folder.hold_signals();
      ::kill(::getpid(), signal);
      for (int look = 0; look < 50; ++look) ::sched_yield();  // the signal has all the time that it needs
      write_file_atomic(dir_.path() / "whole", fs::exists(folder.path() / "file") ? "in time" : "too late");
    }
    while (true) ::pause();
  }

  TempDir dir_;
};

TEST_F(AsideFolderTest, ASignalThatIsHeldWaitsAndThenLeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(end_by(signal), ::testing::KilledBySignal(signal), "");
    EXPECT_THAT(left(), UnorderedElementsAreArray({"whole"}));
    EXPECT_EQ(read_file(dir_.path() / "whole"), "in time");
    fs::remove(dir_.path() / "whole");
  }
}

TEST_F(AsideFolderTest, OnlyFoldersOfThisFormThatNobodyHoldsAreSwept) {
  const std::vector<std::string> others{".aside",          "m.1-0.aside",    ".1-0.aside",   ".m.1-.aside",
                                        ".m.-0.aside",     ".m.1-0.asides",  ".m.x-0.aside", ".m.10.aside",
                                        ".file.1-0.aside", ".link.1-0.aside"};
  for (const std::string& name : others) {
    if (name.starts_with(".file"))
      write_file_atomic(dir_.path() / name, "");
    else if (name.starts_with(".link"))
      fs::create_symlink(".", dir_.path() / name);
    else
      fs::create_directory(dir_.path() / name);
  }
  fs::create_directories(dir_.path() / ".a.b-1.2-3.aside/full");
  {
    const AsideFolder one(dir_.path(), "m"), two(dir_.path(), "m");
    EXPECT_NE(one.path(), two.path());
    std::vector<std::string> wanted = others;
    for (const AsideFolder* each : {&one, &two}) {
      wanted.push_back(each->path().filename());
      EXPECT_THAT(wanted.back(), ::testing::StartsWith(".m." + std::to_string(::getpid()) + "-"));
    }
    EXPECT_THAT(left(), UnorderedElementsAreArray(wanted));
  }
  EXPECT_THAT(left(), UnorderedElementsAreArray(others));
  EXPECT_THROW(AsideFolder(dir_.path() / "missing", "m"), FileError);
}

}  // namespace
}  // namespace regraft::launch
