#include "core/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "core/base/atomic_file.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const FileError& e) {
    return e.what();
  }
  return "no FileError";
}

// Runs the body in a child process whose files may not grow past `limit_bytes`; the child's exit code.
template <typename Body>
int with_file_size_limit(rlim_t limit_bytes, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{limit_bytes, limit_bytes};
    ::signal(SIGXFSZ, SIG_IGN);
    ::_exit(::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? body() : 99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(ReadFile, GivesAllBytesOfSmallLargeAndProcFiles) {
  const TempDir dir;
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    const std::string text(size, 'x');
    std::ofstream(dir.path() / "f", std::ios::binary) << text;
    EXPECT_EQ(read_file(dir.path() / "f"), text) << size;
  }
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("VmHWM"));
}

TEST(ReadFile, NamesThePathAndTheReason) {
  const TempDir dir;
  EXPECT_THAT(error_of([&] { read_file(dir.path() / "none"); }),
              HasSubstr("none: cannot be opened: No such file"));
  EXPECT_THAT(error_of([&] { read_file(dir.path()); }), HasSubstr("Is a directory (name a file"));
}

TEST(MappedFile, ShowsTheBytesAndSurvivesMovesAndReplacement) {
  const TempDir dir;
  const fs::path path = dir.path() / "f";
  write_file_atomic(path, "hello");
  MappedFile first(path);
  MappedFile second(std::move(first));
  write_file_atomic(path, "other content");
  const auto bytes = second.bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "hello");
  EXPECT_TRUE(first.bytes().empty());  // NOLINT: a moved-from map is empty
  second = MappedFile(path);
  EXPECT_EQ(second.bytes().size(), 13u);
}

TEST(MappedFile, RefusesMissingEmptyAndSpecialFiles) {
  const TempDir dir;
  std::ofstream(dir.path() / "empty").flush();
  EXPECT_THAT(error_of([&] { const MappedFile file(dir.path() / "none"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { const MappedFile file(dir.path() / "empty"); }), HasSubstr("is empty"));
  EXPECT_THAT(error_of([&] { const MappedFile file(dir.path()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { const MappedFile file("/dev/null"); }), HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { const MappedFile file(dir.path() / "pipe"); }), HasSubstr("not a regular file"))
      << "it does not wait for a writer";
}

TEST(AtomicFile, ReplacesOnlyOnCommitAndLeavesNothingAside) {
  const TempDir dir;
  const fs::path path = dir.path() / "f";
  write_file_atomic(path, "old");
  {
    AtomicFile file(path);
    file.write("ne");
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(names_in(dir.path()).size(), 2u);
  }
  EXPECT_EQ(read_file(path), "old");
  AtomicFile file(path);
  file.write("ne");
  file.write("w");
  file.commit();
  EXPECT_EQ(read_file(path), "new");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(AtomicFile, GetsOutOfTheWayOfAnAsideFileThatAKilledProcessLeft) {
  const TempDir dir;
  const fs::path path = dir.path() / "f";
  std::ofstream(path.string() + ".partial-" + std::to_string(::getpid()) + "-0") << "torn";
  write_file_atomic(path, "whole");
  EXPECT_EQ(read_file(path), "whole");
}

TEST(AtomicFile, WritesNamesAsLongAsTheSystemAllows) {
  const TempDir dir;
  const fs::path path = dir.path() / std::string(255, 'n');
  write_file_atomic(path, "whole");
  EXPECT_EQ(read_file(path), "whole");
}

TEST(AtomicFile, UsesTheUmaskLikeAnyOtherFile) {
  const TempDir dir;
  const mode_t before = ::umask(027);
  write_file_atomic(dir.path() / "f", "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((dir.path() / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, FullDiskThrowsWithThePathAndRemovesTheAsideFile) {
  const TempDir dir;
  const fs::path path = dir.path() / "f";
  write_file_atomic(path, "old");
  const int code = with_file_size_limit(100000, [&] {
    const std::string message = error_of([&] { write_file_atomic(path, std::string(200000, 'x')); });
    return message.find(path.string() + ": cannot be written: File too large") == 0 ? 7 : 1;
  });
  EXPECT_EQ(code, 7);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(AtomicFile, KeepsModeAndOwnerAndFollowsLinks) {
  const TempDir dir;
  const fs::path path = dir.path() / "file", link = dir.path() / "link", other = dir.path() / "new";
  write_file_atomic(path, "before");
  ASSERT_EQ(::chmod(path.c_str(), 0604), 0);
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(path.c_str(), 1234, 4321), 0);
  }
  fs::create_symlink("file", link);
  write_file_atomic(link, "after");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(path), "after");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0604u);
  if (root) {
    EXPECT_EQ(std::pair(status.st_uid, status.st_gid), std::pair(uid_t{1234}, gid_t{4321}));
  }
  fs::remove(path);
  write_file_atomic(link, "made");
  EXPECT_EQ(read_file(path), "made") << "what a link points at need not be there";
  fs::create_symlink("new", other);
  EXPECT_THROW(write_file_atomic(other, "round"), FileError);
}

TEST(AtomicFile, WritesToWhatIsNoFile) {
  const TempDir dir;
  const fs::path pipe = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::jthread reader([&] { received = read_file(pipe); });
  write_file_atomic(pipe, "through");
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THROW(write_file_atomic("/dev/full", "too much"), FileError);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  // A descriptor of this process, by a name that a shell gives it: written to where it stands.
  const FileDescriptor open_file(::open((dir.path() / "log").c_str(), O_RDWR | O_CREAT, 0600));
  write_fully(open_file.get(), std::as_bytes(std::span("first ", 6)), "log");
  write_file_atomic("/dev/fd/" + std::to_string(open_file.get()), "second");
  EXPECT_EQ(read_file(dir.path() / "log"), "first second");
}

TEST(AtomicFile, RefusesAFolderAndAMissingParent) {
  const TempDir dir;
  EXPECT_THAT(error_of([&] { write_file_atomic(dir.path(), "x"); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { write_file_atomic(dir.path() / "no" / "f", "x"); }), HasSubstr("No such file"));
  EXPECT_TRUE(names_in(dir.path()).empty());
}

TEST(WriteFully, SaysThatTheDeviceIsFull) {
  std::ofstream probe("/dev/full");
  if (!probe) GTEST_SKIP() << "no /dev/full here";
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const std::string text = "x";
  EXPECT_THAT(error_of([&] { write_fully(full.get(), std::as_bytes(std::span(text)), "/dev/full"); }),
              HasSubstr("No space left on device (free some disk space"));
}

}  // namespace
}
