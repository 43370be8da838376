#include "core/rules/lang/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rules/lang/parse_rules.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> rule_texts(const std::string& file) {
  std::vector<std::string> texts;
  for (const RuleText& rule : parse_rules(file, "a.rules")) texts.push_back(rule.text);
  return texts;
}

std::string file_error(const std::string& file) {
  try {
    parse_rules(file, "a.rules");
  } catch (const RuleError& error) {
    return error.what();
  }
  return "";
}

TEST(Parts, StandForTheirText) {
  EXPECT_THAT(rule_texts("$pair = Add(x,\n    y)  # of two\n"
                         "a: $pair => Add(y, x)\n"
                         "b (finite): Neg($pair) => Neg(Add(y, x)) # $none\n"),
              ElementsAre("a: Add(x, y) => Add(y, x)", "b: Neg(Add(x, y)) => Neg(Add(y, x))"));
}

TEST(Parts, MayHoldOthers) {
  EXPECT_THAT(rule_texts("$y = Neg(y)\n$pair = Add(x, $y)\na: $pair => $pair\n"),
              ElementsAre("a: Add(x, Neg(y)) => Add(x, Neg(y))"));
}

TEST(Parts, TokensStandWhereTheyAreWritten) {
  Parts parts("a.rules");
  parts.define("$two = x\n  y", 4);
  std::vector<std::string> at;
  for (const Token& token : parts.expand("a $two\n b", 9).tokens)
    at.push_back(token.text + " " + std::to_string(token.at.line) + ":" + std::to_string(token.at.column));
  EXPECT_THAT(at, ElementsAre("a 9:1", "x 4:8", "y 5:3", "b 10:2", " 10:3"));
  EXPECT_THAT(file_error("$z = Neg(x))\na: Neg(x) => $z\n"), HasSubstr("a.rules:1:12"));
}

TEST(Parts, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(file_error("a: Neg(x) => Neg($x)\n$x = x\n"), HasSubstr("a.rules:1:18: unknown part '$x'"));
  EXPECT_THAT(file_error("$x = x\n$x = y\n"), HasSubstr("a.rules:2:1: the part $x is defined twice"));
  EXPECT_THAT(file_error("$x =\n"), HasSubstr("the part $x is empty"));
  EXPECT_THAT(file_error("$ = x\n"), HasSubstr("a part is written $name = text"));
  EXPECT_THAT(file_error("$x == y\n"), HasSubstr("a part is written $name = text"));
  EXPECT_THAT(file_error("$x: Neg(x) => x\n"), HasSubstr("a part is written $name = text"));
}

TEST(Parts, OfPartsDoNotGrowWithoutEnd) {
  std::string tokens = "$a0 = x x\n", bytes = "$b0 = " + std::string(1000, 'x') + "\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = std::to_string(i - 1), name = std::to_string(i);
    tokens += "$a" + name + " = $a" + before + " $a" + before + "\n";
    bytes += "$b" + name + " = $b" + before + " $b" + before + "\n";
  }
  EXPECT_THAT(file_error(tokens), HasSubstr("a rule of more than 2000 tokens"));
  EXPECT_THAT(file_error(bytes), HasSubstr("too long"));
}

}  // namespace
}
