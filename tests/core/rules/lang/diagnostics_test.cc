#include "core/rules/lang/diagnostics.h"

#include <gtest/gtest.h>

#include <array>

namespace regraft::rules {
namespace {

TEST(Diagnostics, QuotesOnlyWhatPrints) {
  EXPECT_EQ(printable("Conv é 漢 😀"), "Conv é 漢 😀");
  EXPECT_EQ(printable("a\x1b[2J\n\x7f"), "a\\x1b[2J\\x0a\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("\xc2\x85"), "\\xc2\\x85") << "a control character of two bytes";
}

TEST(Diagnostics, FailsAtAPlace) {
  try {
    fail("a.rules", {.line = 3, .column = 7}, "bad\nname", "write \x01");
    FAIL();
  } catch (const RuleError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("a.rules:3:7"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("write \\x01"), std::string::npos) << e.what();
  }
}

TEST(Diagnostics, OffersANameThatIsNear) {
  constexpr std::array<std::string_view, 2> kKnown{"Conv", "MatMul"};
  EXPECT_EQ(nearest("Matmul", kKnown, "see the list"), "did you mean 'MatMul'?");
  EXPECT_EQ(nearest("Softmax", kKnown, "see the list"), "see the list");
  const std::string name(48, 'C');
  const std::array<std::string_view, 1> near{std::string_view(name).substr(1)};
  EXPECT_EQ(nearest(name, near, "see the list"), "did you mean '" + name.substr(1) + "'?");
  EXPECT_EQ(nearest(name + "C", near, "see the list"), "see the list") << "too long to be meant for a name";
}

}  // namespace
}
