#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> entries(const fs::path& folder) {
  return {fs::begin(fs::directory_iterator(folder)), fs::end(fs::directory_iterator(folder))};
}

/// A process that makes a folder with a key in it and is killed.
void be_killed_with_keys(const fs::path& within) {
  const pid_t child = fork();
  if (child == 0) {
    const TempDir keys("regraft-keys", within);
    write_file_atomic(keys.path() / "actor-1.key", "secret");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(TempDir, IsTheUsersAloneAndGoesWithItsObject) {
  const TempDir within;
  {
    const TempDir keys("regraft-keys", within.path());
    EXPECT_EQ(keys.path().parent_path(), within.path());
    EXPECT_EQ(fs::status(keys.path()).permissions(), fs::perms::owner_all);
    write_file_atomic(keys.path() / "actor-1.key", "secret");
  }
  EXPECT_TRUE(fs::is_empty(within.path()));
}

TEST(TempDir, RemovesWhatKilledProcessesLeftAndNothingElse) {
  const TempDir within;
  const TempDir alive("regraft", within.path());
  write_file_atomic(alive.path() / "actor-1.key", "secret");
  const fs::path unlike = within.path() / "regraft.user", outside = within.path() / "outside",
                 link = within.path() / "regraft.flock.a_link", file = within.path() / "regraft.flock.a_file";
  fs::create_directories(unlike);
  fs::create_directories(outside);
  write_file_atomic(outside / "kept", "");
  fs::create_directory_symlink(outside, link);
  write_file_atomic(file, "");
  const std::set<fs::path> before = entries(within.path());
  be_killed_with_keys(within.path());
  ASSERT_EQ(entries(within.path()).size(), before.size() + 1) << "a killed process cannot clean up";
  {
    const TempDir next("regraft", within.path());
    std::set<fs::path> expected = before;
    expected.insert(next.path());
    EXPECT_EQ(entries(within.path()), expected);
  }
  EXPECT_EQ(entries(within.path()), before);
  EXPECT_TRUE(fs::exists(alive.path() / "actor-1.key"));
  EXPECT_TRUE(fs::exists(outside / "kept"));
}

// A supervisor's children inherit what it opened without saying otherwise.
TEST(TempDir, AProcessThatItStartedDoesNotHoldItsLock) {
  const TempDir within;
  fs::path left;
  pid_t sleeper = 0;
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TempDir keys("regraft-keys", within.path());
    sleeper = fork();
    if (sleeper == 0) {
      execlp("sleep", "sleep", "60", nullptr);
      _exit(127);
    }
    if (write(told[1], &sleeper, sizeof sleeper) != sizeof sleeper) _exit(1);
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(read(told[0], &sleeper, sizeof sleeper), static_cast<ssize_t>(sizeof sleeper));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(told[0]);
  close(told[1]);
  // Until it has become another program the started process holds what its parent had.
  for (int i = 0; i < 1000 && entries(within.path()).size() == 1; ++i) {
    const TempDir next("regraft", within.path());
    if (entries(within.path()).size() == 1) break;
    usleep(10000);
  }
  {
    const TempDir next("regraft", within.path());
    EXPECT_EQ(entries(within.path()).size(), 1u) << "its own alone";
  }
  kill(sleeper, SIGKILL);
}

}  // namespace
}  // namespace regraft
