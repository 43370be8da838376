#include "core/rules/set/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/lang/parse_rules.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;

struct BadRule {
  const char* text;
  const char* position;  // line:column
  const char* says;
};

class BadRules : public ::testing::TestWithParam<BadRule> {};

TEST_P(BadRules, AreRefusedWithPlaceAndRemedy) {
  const BadRule& bad = GetParam();
  try {
    RuleSet::parse(bad.text, "bad.rules");
    FAIL() << "accepted: " << bad.text;
  } catch (const RuleError& e) {
    EXPECT_THAT(e.what(), HasSubstr(std::string("bad.rules:") + bad.position)) << bad.text;
    EXPECT_THAT(e.what(), HasSubstr(bad.says)) << bad.text;
    EXPECT_FALSE(e.remedy().empty()) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadRules,
    ::testing::Values(BadRule{"r: Rellu(x) => x\n", "1:4", "did you mean 'Relu'"},
                      BadRule{"r: Relu(x) => Sigmid(x)\n", "1:15", "did you mean 'Sigmoid'"},
                      BadRule{"r: Relu(xs) => Relu(ys)\n", "1:21", "did you mean 'xs'"},
                      BadRule{"r: Concat{axes=0}(x, y) => x\n", "1:11", "did you mean 'axis'"},
                      BadRule{"r: Concat{[0]}(x, y) => x\n", "1:11", "is no list"},
                      BadRule{"r: Transpose{p}(x) => Transpose{3}(x)\n", "1:33", "is a list"},
                      BadRule{"r: Transpose(x) => x\n", "1:4", "says nothing of its attribute perm"},
                      BadRule{"r: Add(x) => x\n", "1:4", "takes 2 operands, not 1"},
                      BadRule{"r: Relu(x) => Add(x, x, x)\n", "1:15", "takes 2 operands, not 3"},
                      BadRule{"r: Relu(x) => Concat{a}(x)\n", "1:22", "'a' is not determined"},
                      BadRule{"r: Relu(x), rnk(x) == 2 => x\n", "1:13", "did you mean 'rank'"},
                      BadRule{"r: Relu(x), x == 2 => x\n", "1:13", "is a tensor, not a number"},
                      BadRule{"r: Relu(x) => x, rank(x) == 2\n", "1:18", "is no tensor"},
                      BadRule{"r: a = Relu(x); b = Sigmoid(x) => a = x\n", "1:21", "'b' is not given"},
                      BadRule{"r: a = Relu(x); a = Sigmoid(x) => a = x\n", "1:17", "bound to two operations"},
                      BadRule{"r: a = Relu(x); b = Relu(y) => a = x; b = y\n", "1:21",
                              "shares no activation"},
                      BadRule{"r: Relu(x) => x\nr: Relu(x) => x\n", "2:1",
                              "a second rule named 'r', whose first is in bad.rules:1"},
                      BadRule{"r: Relu(x)\n", "2:1", "the rule ends too early"},
                      BadRule{"Relu(x) => x\n", "1:1", "begins with 'name:'"},
                      BadRule{"r (finit): Relu(x) => x\n", "1:4", "unknown mark 'finit'"},
                      BadRule{"r (): Relu(x) => x\n", "1:4", "unknown mark ''"},
                      BadRule{"r (finite, finite): Relu(x) => x\n", "1:12", "stands here twice"},
                      BadRule{"r (finite: Relu(x) => x\n", "1:10", "expected ')'"},
                      BadRule{"r (finite) Relu(x) => x\n", "1:12", "begins with 'name:'"},
                      BadRule{"  r: Relu(x) => x\n", "1:1", "continues no rule"},
                      BadRule{"[family\nr: Relu(x) => x\n", "1:1", "a family header"},
                      BadRule{"r: y@ = Relu(x@) => y@ = x@\n", "1:1", "share no operand"},
                      BadRule{"r: y@ = MatMul(x, w@), const(w@) => z = MatMul(x, w@); y@ = z\n", "1:37",
                              "varies with the members"},
                      BadRule{"r: y@ = MatMul(x, w) => y@ = x@\n", "1:30", "the same for all members"},
                      BadRule{"r: Unary(x) => x\n", "1:4", "needs a name"},
                      BadRule{"r: Conv{*}(x, w) => x\n", "1:4", "'*' without a name"},
                      BadRule{"r: (a, b) = Split{c, s}(x) => x\n", "1:31", "which root"},
                      BadRule{"r: (a, b) = Relu(x) => a = x; b = x\n", "1:13", "has one output"},
                      BadRule{"r: y = Relu(x) => x = y\n", "1:19", "is an operand of the left side"},
                      BadRule{"r: y = Relu(x) => y = Sigmoid(y)\n", "1:23", "reads a value that it replaces"},
                      BadRule{"r: Relu(x), $ => x\n", "1:13", "unexpected character"},
                      BadRule{"r: Mul(x, \"abc => x\n", "1:11", "a string without end"},
                      BadRule{"r: Relu(x), n == 99999999999999999999 => x\n", "1:18", "out of range"}));

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadRules,
    ::testing::Values(BadRule{"r: Relu(x) => Neg(x), Relu(x)\n", "1:23", "a second result"},
                      BadRule{"r: y = Relu(x) => y = Neg(x); Relu(x)\n", "1:31", "a second result"},
                      BadRule{"r: y = Relu(x) => Neg(x), y = Relu(x)\n", "1:27", "a second result"},
                      BadRule{"r: f:Unary(x) => f(x, x)\n", "1:18", "takes 1 operands, not 2"},
                      BadRule{"r: f:Binary(x, y) => f(x)\n", "1:22", "takes 2 operands, not 1"},
                      BadRule{"r: Relu(x), 3 => x\n", "1:13", "a guard is a condition"},
                      BadRule{"r: Relu(x), rank(x) => x\n", "1:13", "and this is a whole number"},
                      BadRule{"r: Relu(x), rank(x) + \"a\" == 2 => x\n", "1:23", "an operand of '+'"},
                      BadRule{"r: Relu(x), rank(x) == \"a\" => x\n", "1:21", "never equal"},
                      BadRule{"r: Relu(x), dims(x) == 0.5 => x\n", "1:21", "never equal"},
                      BadRule{"r: Relu(x), not rank(x) => x\n", "1:17", "an operand of 'not'"},
                      BadRule{"r: Relu(x), rank(x)[0] == 1 => x\n", "1:13", "what has elements is a list"},
                      BadRule{"r: Relu(x), len(rank(x)) == 1 => x\n", "1:17", "argument 1 is a list"},
                      BadRule{"r: Relu(x), dims(x) * 0.5 == 1 => x\n", "1:23", "a list is of whole numbers"},
                      BadRule{"r: Relu(x), n = rank(x), n => x\n", "1:26", "a guard is a condition"},
                      BadRule{"r: Transpose{[1, 0.5]}(x) => x\n", "1:18", "a list of whole numbers"},
                      BadRule{"r: Transpose{p}(x) => Transpose{rank(x)}(x)\n", "1:33", "perm is a list"},
                      BadRule{"r: Relu(x) => Reshape{[0.5 + rank(x)]}(x)\n", "1:28", "an element of a list"},
                      BadRule{"r: Relu(x) => Concat{dims(x)}(x, x)\n", "1:22", "and this is a list"},
                      BadRule{"r: Relu(x) => Mul(x, Full(rank(x), 1, x))\n", "1:27", "its dims, is a list"},
                      BadRule{"r: Relu(x) => Mul(x, \"a\")\n", "1:22", "an operand is a number"},
                      BadRule{"r: a = Relu(x); a = rank(x) => a = x\n", "1:4", "bound twice"},
                      BadRule{"r: f:Unary(x), f == 1 => x\n", "1:16", "is a tensor"},
                      BadRule{"r: Relu(x)=> (y = x\n", "1:17", "unexpected"}));

// Well formed, and never meant.
INSTANTIATE_TEST_SUITE_P(
    Senseless, BadRules,
    ::testing::Values(BadRule{"r: Relu(x), n in {} => Transpose{n}(x)\n", "1:15", "'n' has no value"},
                      BadRule{"r: Relu(x), k in {3, 5} => x\n", "1:15", "nothing depends on 'k'"},
                      BadRule{"r: Relu(x) => Softmax{1.5}(x)\n", "1:23", "axis is a condition or a whole"},
                      BadRule{"r: Concat{0.5}(x, y) => x\n", "1:11", "never equal"},
                      BadRule{"r: Relu(x), rank(x) == 2.5 => x\n", "1:21", "never equal"},
                      BadRule{"r: Relu(x) => Softmax{\"a\"}(x)\n", "1:23", "and this is a text"},
                      BadRule{"r: Relu(x) => Conv{[3],[1],[1,1],[1],1}(x, none)\n", "1:44",
                              "operand 2 of Conv cannot be left out"},
                      BadRule{"r: Relu(x), 3 < 2 => x\n", "1:13", "the same for every graph"},
                      BadRule{"r: Relu(x), x.0 / 0 == 1 => x\n", "1:17", "a division by zero"},
                      BadRule{"r: Relu(x) => Relu(x)\n", "1:15", "the right side is the left side"},
                      BadRule{"r: a = Relu(x); b = Neg(x) => b = Neg(x); a = Relu(x)\n", "1:31",
                              "the right side is the left side"},
                      BadRule{"r: Foo(x) => x\n", "1:4", "unknown operation 'Foo'"}));

TEST(RuleSet, SuggestsNoNameThatIsFarAway) {
  try {
    RuleSet::parse("r: Xyz(x) => x\n", "far.rules");
    FAIL() << "accepted";
  } catch (const RuleError& e) {
    EXPECT_THAT(e.remedy(), Not(HasSubstr("did you mean")));
  }
}

TEST(RuleSet, ReadsNamesFamiliesAndFiniteSets) {
  const RuleSet rules = RuleSet::parse(
      "# comment\n[alpha]\none: Relu(Relu(x)) => Relu(x)  # idempotent\n\n[beta]\n"
      "two: Conv{k,s,p,d=1,g}(x, w), const(w), rank(x) == 4, k odd, k < k2\n"
      "    => e = (k2 - k) / 2; Conv{[k2, k2], s, p + (e ++ e), [1, 1], g}(x, Pad{[0, 0] ++ e ++ [0, 0] ++ "
      "e}(w)),\n"
      "       k2 in {3, 5}\n",
      "t.rules");
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules.info(0).name, "one");
  EXPECT_EQ(rules.info(0).family, "alpha");
  EXPECT_EQ(rules.info(0).text, "one: Relu(Relu(x)) => Relu(x)");
  EXPECT_EQ(rules.info(1).name, "two/k2=3");
  EXPECT_EQ(rules.info(2).name, "two/k2=5");
  EXPECT_EQ(rules.info(2).family, "beta");
  EXPECT_EQ(rules.find("two/k2=5"), 2u);
  EXPECT_FALSE(rules.find("three").has_value());
}

TEST(RuleSet, ARuleAloneIsTheOneOfItsName) {
  const RuleSet rules = RuleSet::parse(
      "[alpha]\none: Relu(Relu(x)) => Relu(x)\n[beta]\n\ntwo: Softmax{a}(x), a == k => x, k in {3, 5}\n",
      "a/t.rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const RuleSet alone = RuleSet::alone(rules.info(i));
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(alone.info(0).name, rules.info(i).name);
    EXPECT_EQ(alone.info(0).family, rules.info(i).family);
    EXPECT_EQ(alone.info(0).line, rules.info(i).line);
    EXPECT_EQ(alone.compiled(0).file, "a/t.rules");
    EXPECT_EQ(alone.compiled(0).nodes[0].kinds, rules.compiled(i).nodes[0].kinds);
  }
}

TEST(RuleSet, FiniteSetsOfSmallNumbersHaveNamesOfTheirOwn) {
  const RuleSet rules = RuleSet::parse(
      "r: Mul(x, c), scalar(c), value(c) == n => x, n in {0.0000001, 0.0000002, -0.5, 3}\n", "t");
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules.info(0).name, "r/n=1e-07");
  EXPECT_EQ(rules.info(1).name, "r/n=2e-07");
  EXPECT_EQ(rules.info(2).name, "r/n=-0.5");
  EXPECT_EQ(rules.info(3).name, "r/n=3");
}

TEST(RuleSet, ACommentBeginsOutsideOfStrings) {
  const auto rules = parse_rules("r: Pad{p,mode=\"#1\"}(x) => x  # \"a\"\n", "t");
  EXPECT_EQ(rules[0].text, "r: Pad{p,mode=\"#1\"}(x) => x");
}

TEST(RuleSet, HashFollowsTheRules) {
  const char* text = "one: Relu(Relu(x)) => Relu(x)\n";
  EXPECT_EQ(RuleSet::parse(text, "a").hash(), RuleSet::parse(std::string("# other\n") + text, "b").hash());
  EXPECT_NE(RuleSet::parse(text, "a").hash(), RuleSet::parse("one: Relu(Relu(x)) => Relu( x)\n", "a").hash());
}

TEST(RuleSet, MarksAreNoPartOfTheTextThatStatusesGoBy) {
  const RuleSet plain = RuleSet::parse("r: Relu(x), k == 1 => x, k in {1, 2}\n", "t");
  RuleSet marked = RuleSet::parse("r ( bounded-terms ,finite ) : Relu(x), k == 1 => x, k in {1, 2}\n", "t");
  const std::vector<RuleMark> both{RuleMark::bounded_terms, RuleMark::finite};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(marked.info(i).marks, both);
    EXPECT_TRUE(marked.info(i).has(RuleMark::finite));
    EXPECT_FALSE(plain.info(i).has(RuleMark::finite));
    EXPECT_EQ(RuleSet::alone(marked.info(i)).info(0).marks, both);
  }
  EXPECT_EQ(marked.info(0).text, "r : Relu(x), k == 1 => x, k in {1, 2}");
  EXPECT_EQ(RuleSet::parse("r (finite): Relu(x) => x\n", "t").hash(),
            RuleSet::parse("r: Relu(x) => x\n", "t").hash());
  marked.exclude_marked();
  EXPECT_EQ(marked.size(), 0u);
}

TEST(RuleSet, DeepNestingIsAnErrorAndNoCrash) {
  std::string text = "r: ";
  for (int i = 0; i < 10000; ++i) text += "Relu(";
  EXPECT_THROW(RuleSet::parse(text + "\n", "deep"), RuleError);
  EXPECT_THROW(RuleSet::parse("r: Relu(x), " + std::string(20000, '-') + "1 == 1 => x\n", "deep"), RuleError);
  EXPECT_THROW(RuleSet::parse("r: Relu(x), " + std::string(20000, '(') + "\n", "deep"), RuleError);
}

TEST(RuleSet, AMissingFileIsAnError) {
  EXPECT_THROW(RuleSet::load("/nonexistent/file.rules"), FileError);
}

TEST(RuleSet, FilesWithoutRulesAreAnError) {
  const TempDir folder("rules");
  const std::filesystem::path file = folder.path() / "empty.rules";
  for (const std::string text : {"", "\n", "# a comment\n[family]\n"}) {
    write_file_atomic(file, text);
    EXPECT_THROW(RuleSet::load(file), RuleError) << text;
    EXPECT_THROW(RuleSet::load(folder.path()), RuleError) << text;
  }
}

TEST(RuleSet, ShippedRulesLoad) {
  const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules", RuleChoice::all());
  EXPECT_GE(rules.size(), 30u);
}

TEST(RuleSet, RulesOfARuntimesDomainAreLoadedWhereItIsAllowed) {
  const std::string folder = std::string(REGRAFT_SOURCE_DIR) + "/configs/rules";
  const auto made = [](const RuleSet& rules) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < rules.size(); ++i) count += rules.info(i).domain.empty() ? 0 : 1;
    return count;
  };
  const RuleSet portable = RuleSet::load(folder),
                all = RuleSet::load(folder, {RuleStatus::bounded_checked, {"com.microsoft"}});
  EXPECT_EQ(made(portable), 0u);
  EXPECT_GE(made(all), 7u);
  EXPECT_EQ(all.size(), portable.size() + made(all));
  EXPECT_EQ(portable.refused_domain("attention-op"), "com.microsoft");
  EXPECT_EQ(portable.refused_domain("mul-one"), "");
  EXPECT_EQ(all.refused_domain("attention-op"), "");
  EXPECT_THROW(RuleSet::load(folder + "/runtime.rules"), RuleError);
}

}  // namespace
}  // namespace regraft::rules
