#include "core/wire/keys.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/wire/run_url.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const WireError& error) {
    EXPECT_EQ(error.fault(), WireFault::kKey);
    return error.what();
  }
  return "no error";
}

TEST(Keys, APairIsSavedForItsOwnerAloneAndReadBack) {
  const TempDir folder;
  const fs::path path = folder.path() / "server.key";
  const KeyPair made = load_or_make_key_pair(path);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const KeyPair read = load_or_make_key_pair(path);
  EXPECT_EQ(read.public_key, made.public_key);
  EXPECT_EQ(read.secret_key, made.secret_key);
  EXPECT_THAT(problem_of([&] { save_key_pair(path, made); }), testing::HasSubstr("exists"));
}

TEST(Keys, AFileThatOthersMayReadOrThatHoldsNoPairIsRefused) {
  const TempDir folder;
  const fs::path path = folder.path() / "actor.key";
  save_key_pair(path, make_key_pair());
  chmod(path.c_str(), 0644);
  EXPECT_THAT(problem_of([&] { load_key_pair(path); }), testing::HasSubstr("others may read"));

  const fs::path mixed = folder.path() / "mixed.key";
  save_key_pair(mixed, KeyPair(make_key_pair().public_key, make_key_pair().secret_key));
  EXPECT_THAT(problem_of([&] { load_key_pair(mixed); }), testing::HasSubstr("does not belong"));

  const fs::path text = folder.path() / "text.key";
  save_key_pair(text, KeyPair("hello", "world"));
  EXPECT_THAT(problem_of([&] { load_key_pair(text); }), testing::HasSubstr("no key file"));
  EXPECT_THAT(problem_of([&] { load_key_pair(folder.path() / "none"); }), testing::HasSubstr("No such file"));
}

TEST(Keys, HexAndZ85AreTheSameKey) {
  const std::string key = make_key_pair().public_key;
  EXPECT_EQ(key_from_hex(testing_support::hex_of(key)), key);
  EXPECT_THROW(key_from_hex("abc"), WireError);
  EXPECT_THROW(key_from_hex(std::string(64, 'g')), WireError);
}

TEST(AuthorisedKeys, AddListRevokeAndRereadWhatAnotherProcessEdits) {
  const TempDir folder;
  AuthorisedKeys running(folder.path() / "keys");
  AuthorisedKeys tool(folder.path() / "keys");
  const std::string a = make_key_pair().public_key, b = make_key_pair().public_key;
  tool.add("actor-b", b);
  tool.add("actor-a", a);
  EXPECT_FALSE(running.contains(a));
  running.reload();
  EXPECT_TRUE(running.contains(a));
  ASSERT_EQ(tool.list().size(), 2u);
  EXPECT_EQ(tool.list()[0].name, "actor-a");

  EXPECT_TRUE(tool.revoke("actor-a"));
  EXPECT_FALSE(tool.revoke("actor-a"));
  running.reload();
  EXPECT_FALSE(running.contains(a));
  EXPECT_TRUE(running.contains(b));
}

TEST(AuthorisedKeys, RefusesNamesThatLeaveTheFolderAndTextsThatAreNoKeys) {
  const TempDir folder;
  AuthorisedKeys keys(folder.path() / "keys");
  const std::string key = make_key_pair().public_key;
  for (const char* name : {"", "..", "../x", "a/b", ".hidden", "a b"}) {
    EXPECT_THROW(keys.add(name, key), WireError) << name;
  }
  EXPECT_THROW(keys.add("good", "not a key"), WireError);
  write_file_atomic(folder.path() / "keys" / "junk.pub", std::string_view("junk"));
  keys.reload();
  EXPECT_TRUE(keys.list().empty());
}

}  // namespace
}
