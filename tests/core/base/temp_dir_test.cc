#include <gtest/gtest.h>
#include <sys/socket.h>
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
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TempDir keys("regraft-keys", within.path());
    if (fork() == 0) {
      dup2(ends[1], STDIN_FILENO);
      dup2(ends[1], STDOUT_FILENO);
      execlp("cat", "cat", nullptr);
      _exit(127);
    }
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[1]);
  EXPECT_EQ(entries(within.path()).size(), 1u) << "what was killed leaves its folder";
  // Until it has become another program the started process holds what its parent had.
  char echo = 'x';
  ASSERT_EQ(send(ends[0], &echo, 1, MSG_NOSIGNAL), 1);
  ASSERT_EQ(read(ends[0], &echo, 1), 1);
  {
    const TempDir next("regraft", within.path());
    EXPECT_EQ(entries(within.path()).size(), 1u) << "its own alone";
  }
  close(ends[0]);  // which ends it
}

}  // namespace
}
