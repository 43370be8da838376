#include "core/wire/relay_file.h"

#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

RunInfo at(const std::string& port) {
  RunInfo info;
  info.run_id = "run";
  info.tcp = "tcp://127.0.0.1:" + port;
  return info;
}

/// In a folder that is not locked.
fs::path file_in(const TempDir& folder) {
  fs::create_directory(folder.path() / "relays");
  return folder.path() / "relays" / "relay.json";
}

TEST(RelayFile, IsRemovedByWhoWroteItLast) {
  const TempDir folder;
  const fs::path path = file_in(folder);
  RelayFile first(path), next(path);
  first.save(at("1001"));
  first.save(at("1002"));
  EXPECT_EQ(RunInfo::load(path), at("1002"));
  next.save(at("1003"));
  first.remove();
  EXPECT_EQ(RunInfo::load(path), at("1003"));
  next.remove();
  EXPECT_FALSE(fs::exists(path));
  next.remove();
}

TEST(RelayFile, OfOneThatWroteNoneStays) {
  const TempDir folder;
  const fs::path path = file_in(folder);
  at("1001").save(path);
  RelayFile own(path);
  own.remove();
  EXPECT_TRUE(fs::exists(path));
  own.save(at("1002"));
  write_file_atomic(path, std::string_view("no run file"));
  own.remove();
  EXPECT_EQ(read_file(path), "no run file");
}

}  // namespace
}
