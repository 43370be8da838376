#include "launch/call/call_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

class CallFilesTest : public ::testing::Test {
 protected:
  CallFilesTest() {
    fs::create_directory(at("rules"));
    for (const char* name : {"in", "rules/a.rules", "rules/b.txt"}) write_file_atomic(at(name), "input");
    fs::create_symlink("in", at("link"));
    fs::create_hard_link(at("in"), at("hard"));
    fs::create_symlink(".", at("here"));
    fs::create_symlink("new", at("to-new"));
  }

  fs::path at(const std::string& name) const { return dir_.path() / name; }
  void writes(const std::string& option, const std::string& name) {
    fs::path path = at(name);
    files_.writes(option, path);
  }
  /// Whether an error says that a file is taken, and what by.
  static bool refused(const std::function<void()>& call, const std::string& by) {
    try {
      call();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(by));
      return true;
    }
    return false;
  }

  TempDir dir_;
  CallFiles files_;
};

TEST_F(CallFilesTest, NothingIsReadThatIsWrittenByWhateverName) {
  for (const char* output : {"in", "rules/../in", "link", "hard", "here/in"}) {
    CallFiles files;
    fs::path path = at(output);
    files.writes("--json", path);
    for (const char* input : {"in", "link", "hard", "here/in"}) {
      EXPECT_TRUE(refused([&] { files.reads("--model", at(input), "--log"); }, "--model")) << output << input;
      EXPECT_TRUE(refused([&] { files.reads_model("--model", at(input)); }, "--json"));
      files.reads("--model", at(input), "--json");
    }
    EXPECT_TRUE(refused([&] { files.spares(dir_.path(), {"data", "in"}); }, "external data"));
    files.spares(dir_.path(), {"data"});
    files.reads_model("--model", "synthetic");
  }
  EXPECT_EQ(read_file(at("in")), "input") << "nothing is written yet";
}

TEST_F(CallFilesTest, NothingIsWrittenTwiceThereOrNot) {
  writes("-o", "new");
  for (const char* name : {"new", "here/new", "to-new", "rules/../new"})
    EXPECT_TRUE(refused([&] { writes("--log", name); }, "-o")) << name;
  writes("--log", "in");
  EXPECT_TRUE(refused([&] { writes("--json", "hard"); }, "--log"));
  fs::path device = "/dev/null";
  files_.writes("--json", device);
  files_.writes("--page", device);
  EXPECT_FALSE(fs::exists(at("new"))) << "looking leaves nothing behind";
}

TEST_F(CallFilesTest, OfAFolderOnlyItsRulesAreRead) {
  writes("--log", "rules/b.txt");
  files_.reads_rules("--rules", at("rules"));
  writes("-o", "rules/a.rules");
  EXPECT_TRUE(refused([&] { files_.reads_rules("--rules", at("rules")); }, "-o"));
  EXPECT_TRUE(refused([&] { files_.reads_rules("--rules", at("rules/a.rules")); }, "-o"));
}

TEST_F(CallFilesTest, WhatCannotBeReadOrWrittenIsAnError) {
  EXPECT_THROW(writes("-o", "missing/new"), FileError);
  EXPECT_THROW(writes("-o", "rules"), FileError);
  EXPECT_THROW(files_.reads("--model", at("missing")), FileError);
  EXPECT_THROW(files_.reads("--model", at("rules")), FileError);
  fs::path empty;
  EXPECT_TRUE(refused([&] { files_.writes("-o", empty); }, "names no file"));
}

TEST_F(CallFilesTest, StandardOutputBelongsToOneOutputAlone) {
  const auto inode = [](int file) {
    struct stat found {};
    ::fstat(file, &found);
    return found.st_ino;
  };
  const FileDescriptor held(::dup(STDOUT_FILENO));
  const FileDescriptor file(::open(at("out").c_str(), O_CREAT | O_WRONLY, 0600));
  ::dup2(file.get(), STDOUT_FILENO);
  fs::path path = "-", other = "/dev/stdout";
  files_.writes("-o", path);
  EXPECT_EQ(inode(STDOUT_FILENO), inode(STDERR_FILENO)) << "where all else goes";
  EXPECT_TRUE(refused([&] { files_.writes("--json", other); }, "another output"));
  ::dup2(held.get(), STDOUT_FILENO);
  write_file_atomic(path, "result");
  EXPECT_EQ(read_file(at("out")), "result");
}

}  // namespace
}
