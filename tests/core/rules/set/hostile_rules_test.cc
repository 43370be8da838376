// Rules that are meant to take time or memory: found by the fuzzer of the rule parser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/set/rule_set.h"
#include "support/validate.h"

namespace regraft::rules::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::string& text) {
  try {
    RuleSet::parse(text, "hostile");
  } catch (const RuleError& error) {
    return error.what();
  }
  return "no error";
}

std::size_t matches_on_relu(const std::string& text) {
  const RuleSet rules = RuleSet::parse(text, "hostile");
  GraphBuilder b;
  b.output(b.op(OpKind::relu, {b.input({2, 3})}));
  return MatchIndex(rules, b.graph()).matches(0).size();
}

// A distance between names takes the product of their lengths.
TEST(HostileRules, LongNamesAreNotComparedLetterByLetter) {
  const std::string one(200000, 'a'), other(200000, 'b');
  EXPECT_THAT(error_of("r: Relu(" + one + ") => Relu(" + other + ")\n"), HasSubstr("not determined"));
  EXPECT_THAT(error_of("r: Relv(x) => x\n"), HasSubstr("did you mean 'Relu'"));
  EXPECT_THAT(error_of("r: R" + other + "(x) => x\n"), Not(HasSubstr("did you mean")));
}

// Each of forty names is twice as long a list as the one before.
TEST(HostileRules, ListsThatDoubleThemselvesHaveNoValue) {
  const auto doubled = [](int times) {
    std::string text = "r: Relu(x), l0 = dims(x)";
    for (int i = 1; i <= times; ++i) {
      const std::string last = "l" + std::to_string(i - 1);
      text += ", l" + std::to_string(i) + " = " + last + " ++ " + last;
    }
    return text + ", len(l" + std::to_string(times) + ") > 0 => x\n";
  };
  EXPECT_EQ(matches_on_relu(doubled(3)), 1u);
  EXPECT_EQ(matches_on_relu(doubled(40)), 0u);
}

TEST(HostileRules, APatternThatReadsItselfIsAnError) {
  EXPECT_THAT(error_of("r: y = Add(x, z); z = Mul(y, x) => y = x; z = x\n"),
              HasSubstr("reads what is made of it"));
  EXPECT_THAT(error_of("r: y = Relu(y) => y = Neg(y)\n"), Not(HasSubstr("no error")));
}

TEST(HostileRules, RangesAreNoLongerThanWhatAGraphHas) {
  EXPECT_EQ(matches_on_relu("r: Relu(x), len(range(59998 + rank(x))) == 60000 => x\n"), 1u);
  EXPECT_EQ(matches_on_relu("r: Relu(x), len(range(69998 + rank(x))) == 70000 => x\n"), 0u);
  EXPECT_EQ(matches_on_relu(
                "r: Relu(x), len(range(-2000000000000000000, 9223372036854775805 + rank(x))) > 0 => x\n"),
            0u);
}

// A negative size among the dims of a constant was taken for a symbol that nobody had named.
TEST(HostileRules, ConstantsOfNegativeSizesCannotBeMade) {
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Values([2], [1, 1], x))\n"), 1u);
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Values([2], [1, -1], x))\n"), 0u);
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Full([1, -1], 2, x))\n"), 0u);
}

// A terminal takes them for orders, and what() ends at a NUL.
TEST(HostileRules, BytesThatAreNoTextAreWrittenOutInMessages) {
  const auto unexpected = [](std::string_view bytes, const std::string& shown) {
    const std::string error = error_of("r: Relu(x), " + std::string(bytes) + " => x\n");
    EXPECT_THAT(error, HasSubstr("hostile:1:13: unexpected character '" + shown + "' (see ")) << shown;
  };
  unexpected(std::string_view("\0", 1), "\\x00");
  unexpected("\x1b[2J", "\\x1b");
  unexpected("\x7f", "\\x7f");
  unexpected("\xff", "\\xff");
  unexpected("\xc2\x9b", "\\xc2\\x9b");
  unexpected("\xe2\x89", "\\xe2");
  unexpected("\xe2\x89\xa5", "\xe2\x89\xa5");
  const std::string quoted = error_of(std::string("r: Relu(x) => Pad{[1, 1],mode=\"a\0\"}(x)\n", 38));
  EXPECT_THAT(quoted, HasSubstr("'a\\x00' is no mode of Pad"));
}

// What some editors put in front.
TEST(HostileRules, AByteOrderMarkIsNoPartOfTheFirstRule) {
  EXPECT_EQ(RuleSet::parse("\xEF\xBB\xBFr: Relu(Relu(x)) => Relu(x)\n", "marked").info(0).name, "r");
  EXPECT_THAT(error_of("\xEF\xBB\xBFr: Relu(x), $ => x\n"), HasSubstr("hostile:1:13: unknown part"));
}

/// Where the error of matching or applying a rule lies, and what it says.
std::string error_in(const std::function<void()>& act) {
  try {
    act();
  } catch (const RuleError& error) {
    return error.what();
  }
  return "no error";
}

// Loops within loops: of two of the longest range, four thousand million turns.
TEST(HostileRules, WorkWithoutMeasureIsAnErrorAtItsPlace) {
  const std::string loops = "sum([sum([j for j in range(65536)]) for i in range(65536)])";
  for (const std::string& text : {"r: Relu(x), rank(x) == 2,\n    " + loops + " > 0 => x\n",
                                  "r: Relu(x) =>\n    n = " + loops + "; Mul(x, n)\n"}) {
    const std::string error = error_in([&] { matches_on_relu(text); });
    EXPECT_NE(error.find("steps"), std::string::npos) << text << error;
    EXPECT_NE(error.find("hostile:2:"), std::string::npos) << error;
    EXPECT_NE(error.find("shorter lists"), std::string::npos) << error;
  }
  // Lists that grow within a loop, and long ones that are copied, compared and searched there.
  for (const char* body :
       {"len(q)", "if q == q then 1 else 0", "if i in q then 1 else 0", "sum(q ++ q)", "sum(q[1:])"}) {
    const std::string text = "r: Relu(x), rank(x) == 2, q = range(4000), sum([" + std::string(body) +
                             " for i in range(65536)]) > 0 => x\n";
    EXPECT_THAT(error_in([&] { matches_on_relu(text); }), HasSubstr("steps")) << text;
  }
}

TEST(HostileRules, SeveralOperationsOnEachElementOfTheLongestRangeAreAllowed) {
  EXPECT_EQ(matches_on_relu("r: Relu(x), sum([(i % 7 * 5 + i / 7) % 11 for i in range(65536)]) > 0,\n"
                            "    sum([i % 3 for i in range(65536)]) > 0 => Mul(x, 2)\n"),
            1u);
}

// The error comes after a part of the right side has been made.
TEST(HostileRules, AnErrorOfWorkLeavesTheGraphAsItWas) {
  const RuleSet rules = RuleSet::parse(
      "r: Relu(x) => y = Neg(x); n = sum([sum([j for j in range(65536)]) for i in range(65536)]); Mul(y, "
      "n)\n",
      "x.rules");
  GraphBuilder b;
  const Value relu = b.op(OpKind::relu, {b.input({2})});
  b.output(relu);
  const std::size_t before = b.graph().live_count();
  Match match;
  match.nodes.push_back(relu.node);
  for (int again = 0; again < 2; ++again) {
    EXPECT_NE(error_in([&] { apply(b.graph(), rules, match); }).find("x.rules:1:"), std::string::npos);
    graph::validate(b.graph());
    EXPECT_EQ(b.graph().live_count(), before);
  }
}

TEST(RuleSetExclude, TakesOneRuleOut) {
  RuleSet rules =
      RuleSet::parse("a: Relu(Relu(x)) => Relu(x)\nb: Neg(Neg(x)) => x\nc: Abs(Abs(x)) => Abs(x)\n", "x");
  rules.exclude("b");
  rules.exclude("none");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules.find("a"), 0u);
  EXPECT_EQ(rules.find("c"), 1u);
  GraphBuilder b;
  const Value x = b.input({2});
  b.output(b.op(OpKind::neg, {b.op(OpKind::neg, {x})}));
  b.output(b.op(OpKind::relu, {b.op(OpKind::relu, {x})}));
  const MatchIndex index(rules, b.graph());
  EXPECT_EQ(index.matches(0).size(), 1u);
  EXPECT_EQ(index.match_count(), 1u);
}

}  // namespace
}
