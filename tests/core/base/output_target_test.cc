#include "core/base/output_target.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;
using Kind = OutputTarget::Kind;

TEST(OutputTarget, NamesOfDescriptorsAreDescriptors) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const OutputTarget target = target_of(name);
    EXPECT_EQ(target.kind, Kind::descriptor) << name;
    EXPECT_EQ(target.descriptor, 1) << name;
    EXPECT_EQ(target.path, name);
  }
  EXPECT_EQ(target_of("/dev/fd/123456").descriptor, 123456);
  for (const char* name : {"/dev/fd/1x", "/dev/fd/x", "/dev/fd/-1"})
    EXPECT_EQ(target_of(name).kind, Kind::file) << name;
}

TEST(OutputTarget, ALinkMeansWhatItPointsAt) {
  const TempDir dir;
  fs::create_symlink("second", dir.path() / "first");
  fs::create_symlink("not-there", dir.path() / "second");
  EXPECT_EQ(target_of(dir.path() / "first").kind, Kind::file);
  EXPECT_EQ(target_of(dir.path() / "first").path, dir.path() / "not-there");
  fs::create_symlink("/dev/fd/2", dir.path() / "errors");
  EXPECT_EQ(target_of(dir.path() / "errors").descriptor, 2);
  EXPECT_EQ(target_of("/dev/null").kind, Kind::special);
}

TEST(OutputTarget, RefusesFoldersAndCircles) {
  const TempDir dir;
  EXPECT_THROW(target_of(dir.path()), FileError);
  fs::create_symlink("there", dir.path() / "here");
  fs::create_symlink("here", dir.path() / "there");
  EXPECT_THROW(target_of(dir.path() / "here"), FileError);
}

TEST(OutputTarget, ALongNameIsCut) {
  EXPECT_EQ(name_beside("folder/model.onnx"), "model.onnx");
  EXPECT_EQ(name_beside("folder/" + std::string(255, 'a')), std::string(200, 'a'));
}

TEST(OutputTarget, AFileGetsTheModeOfTheOneThatItReplaces) {
  const TempDir dir;
  const fs::path held = dir.path() / "held", made = dir.path() / "made";
  std::ofstream(held) << "x";
  fs::permissions(held, fs::perms(0640));
  const FileDescriptor file(::open(made.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  keep_mode_and_owner(dir.path() / "not-there", file.get());
  EXPECT_EQ(fs::status(made).permissions(), fs::perms(0600));
  keep_mode_and_owner(held, file.get());
  EXPECT_EQ(fs::status(made).permissions(), fs::perms(0640));
}

}  // namespace
}
