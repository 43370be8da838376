#include "core/base/xz.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"

namespace regraft {
namespace {

constexpr std::size_t kMost = 1 << 20;

std::string random_text(std::size_t bytes) {
  Rng rng(5, "xz test");
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

TEST(Xz, GivesBackWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(1 << 16, 'a'),
                                  std::string(kMost, 'a'), random_text(70000)})
    EXPECT_EQ(unxz(xz(text), kMost), text) << text.size();
  EXPECT_LT(xz(std::string(100000, 'a')).size(), 200u);
}

/// "regraft", packed by `xz -9`.
constexpr char kStrongest[] =
    "\375\067\172\130\132\000\000\001\151\042\336\066\002\000\041\001\034\000\000\000"
    "\020\317\130\314\001\000\006\162\145\147\162\141\146\164\000\000\314\233\134\171"
    "\000\001\033\007\022\353\324\027\220\102\231\015\001\000\000\000\000\001\131\132";

TEST(Xz, UnpacksWhatTheStrongestPresetPacked) {
  EXPECT_EQ(unxz({kStrongest, sizeof kStrongest - 1}, kMost), std::string("regraft"));
}

TEST(Xz, RefusesEveryTruncationAndChangedByte) {
  const std::string packed = xz("proof " + random_text(200));
  for (std::size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_FALSE(unxz(packed.substr(0, bytes), kMost)) << bytes;
  EXPECT_FALSE(unxz(packed + "x", kMost));
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_FALSE(unxz(changed, kMost)) << at;
  }
}

TEST(Xz, RefusesMoreBytesThanTheLimit) {
  const std::string packed = xz(std::string(kMost, 'a'));
  EXPECT_FALSE(unxz(packed, kMost - 1));
  EXPECT_FALSE(unxz(packed, 0));
}

}  // namespace
}
