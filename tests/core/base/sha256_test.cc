#include "core/base/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft {
namespace {

TEST(Sha256, MatchesFips180Vectors) {
  EXPECT_EQ(sha256_hex(std::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileAndOfChunksIsThatOfTheWhole) {
  const std::string text(3'000'001, 'q');
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += 777)
    hash.update(std::as_bytes(std::span(text).subspan(at, std::min<std::size_t>(777, text.size() - at))));
  EXPECT_EQ(to_hex(hash.finish()), sha256_hex(text));
  const TempDir dir;
  write_file_atomic(dir.path() / "f", text);
  EXPECT_EQ(sha256_file(dir.path() / "f"), sha256_hex(text));
  EXPECT_THROW(sha256_file(dir.path() / "none"), FileError);
  EXPECT_THROW(sha256_file(dir.path()), FileError);
}

}  // namespace
}
