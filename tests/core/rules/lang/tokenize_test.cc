#include "core/rules/lang/tokenize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Kind = Token::Kind;

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const Token& token : tokenize(text, 1, "a.rules")) out.push_back(token.text);
  return out;
}

TEST(Tokenize, TakesTheLongestSymbol) {
  EXPECT_THAT(texts("=>==!=<=++??...=x"),
              ElementsAre("=>", "==", "!=", "<=", "++", "??", "...", "=", "x", ""));
  EXPECT_THAT(texts("a # the rest => is a comment\nb"), ElementsAre("a", "b", ""));
}

TEST(Tokenize, CountsLinesAndColumns) {
  const auto tokens = tokenize("ab c\n  \"d\"", 7, "a.rules");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[1].at.line, 7u);
  EXPECT_EQ(tokens[1].at.column, 4u);
  EXPECT_EQ(tokens[2].at.line, 8u);
  EXPECT_EQ(tokens[2].at.column, 3u);
  EXPECT_EQ(tokens[2].kind, Kind::text);
  EXPECT_EQ(tokens[2].text, "d");
  EXPECT_EQ(tokens[3].kind, Kind::end);
}

TEST(Tokenize, NumbersAreIntegersUntilAPointOrAnExponent) {
  const auto number = [](std::string_view text) { return tokenize(text, 1, "a.rules").front(); };
  EXPECT_EQ(number("42").kind, Kind::integer);
  EXPECT_EQ(number("42").integer, 42);
  EXPECT_EQ(number("1.5e-3").kind, Kind::real);
  EXPECT_DOUBLE_EQ(number("1.5e-3").real, 1.5e-3);
  EXPECT_EQ(number("2e3").kind, Kind::real);
  EXPECT_THAT(texts("1...n"), ElementsAre("1", "...", "n", "")) << "no point without a digit";
  EXPECT_THAT(texts("2e"), ElementsAre("2", "e", "")) << "no exponent without a digit";
}

TEST(Tokenize, AnAtSignBelongsToItsName) {
  const auto tokens = tokenize("x@m y@ z", 1, "a.rules");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_TRUE(tokens[0].member);
  EXPECT_EQ(tokens[0].member_set, "m");
  EXPECT_TRUE(tokens[1].member);
  EXPECT_EQ(tokens[1].member_set, "");
  EXPECT_FALSE(tokens[2].member);
}

TEST(Tokenize, ErrorsNameThePlace) {
  const auto error = [](std::string_view text) { return [text] { tokenize(text, 3, "a.rules"); }; };
  EXPECT_THAT(error("a $"), ThrowsMessage<RuleError>(HasSubstr("a.rules:3:3")));
  EXPECT_THAT(error("é"), ThrowsMessage<RuleError>(HasSubstr("'é'"))) << "the whole character";
  EXPECT_THAT(error("\"open\n\""), ThrowsMessage<RuleError>(HasSubstr("a string without end")));
  EXPECT_THAT(error("99999999999999999999"), ThrowsMessage<RuleError>(HasSubstr("is out of range")));
}

}  // namespace
}
