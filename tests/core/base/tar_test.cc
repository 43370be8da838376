#include "core/base/tar.h"

#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/process.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

const FileTexts kFiles{
    {"b.txt", "second"},
    {"a.txt", std::string(1025, 'x')},
    {"empty", ""},
    {std::string(100, 'n'), "the longest name of a header"},
    {std::string(150, 'm'), "a longer one"},
};

TEST(Tar, GivesBackWhatWasPacked) {
  EXPECT_EQ(untar(tar(kFiles)), kFiles);
  EXPECT_EQ(untar(tar({})), FileTexts{});
}

TEST(Tar, IsReadByTheTarProgram) {
  const TempDir folder;
  write_file_atomic(folder.path() / "a.tar", tar(kFiles));
  const Captured told =
      capture_output({.argv = {"tar", "xf", folder.path() / "a.tar", "-C", folder.path().string()}});
  ASSERT_EQ(told.status.code, 0) << told.errors;
  EXPECT_EQ(told.errors, "");
  for (const auto& [name, contents] : kFiles) EXPECT_EQ(read_file(folder.path() / name), contents) << name;
}

TEST(Tar, ReadsWhatTheTarProgramWrites) {
  for (const char* format : {"gnu", "ustar", "pax", "v7"}) {
    const TempDir folder;
    fs::create_directories(folder.path() / "in/sub");
    for (const char* name : {"a.txt", "sub/b.txt"})
      write_file_atomic(folder.path() / "in" / name, std::string_view(name));
    const Captured told = capture_output({.argv = {"tar", "cf", folder.path() / "a.tar", "--format", format,
                                                   "-C", folder.path() / "in", "."}});
    ASSERT_EQ(told.status.code, 0) << told.errors;
    EXPECT_EQ(untar(read_file(folder.path() / "a.tar")),
              (FileTexts{{"a.txt", "a.txt"}, {"sub/b.txt", "sub/b.txt"}}))
        << format;
  }
}

TEST(Tar, SaysNothingOfWhereAndWhenItWasMade) {
  const std::string archive = tar({{"a", "text"}});
  EXPECT_EQ(archive.size(), 4u * 512);
  const auto fields = [&](std::size_t at, std::size_t bytes) {
    std::string text = archive.substr(at, bytes);
    std::replace(text.begin(), text.end(), '\0', '|');
    return text;
  };
  EXPECT_EQ(fields(100, 57), "0000644|0000000|0000000|00000000004|00000000000|006102| 0");
  EXPECT_EQ(fields(157, 355), std::string(100, '|') + "ustar|00" + std::string(247, '|'));
}

TEST(Tar, RefusesEveryTruncationAndADamagedHeader) {
  const std::string archive = tar(kFiles);
  for (std::size_t bytes = 0; bytes + 1024 < archive.size(); bytes += 64)
    EXPECT_FALSE(untar(archive.substr(0, bytes))) << bytes;
  for (std::size_t at = 0; at < 512; at += 7) {
    std::string changed = archive;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_FALSE(untar(changed)) << at;
  }
}

}  // namespace
}
