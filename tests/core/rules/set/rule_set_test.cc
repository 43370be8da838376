#include "core/rules/set/rule_set.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/rules/bad_rule.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/lang/parse_rules.h"
#include "core/rules/lang/syntax.h"
#include "core/rules/shipped.h"

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;

class BadRules : public ::testing::TestWithParam<testing::BadRule> {};

TEST_P(BadRules, AreRefusedWithPlaceAndRemedy) {
  testing::expect_refused(GetParam());
}

const testing::BadRule kEachBadRules[] = {
    {"r: Rellu(x) => x", "1:4", "did you mean 'Relu'"},
    {"r: Relu(x) => Sigmid(x)", "1:15", "did you mean 'Sigmoid'"},
    {"r: Relu(xs) => Relu(ys)", "1:21", "did you mean 'xs'"},
    {"r: Concat{axes=0}(x, y) => x", "1:11", "did you mean 'axis'"},
    {"r: Concat{[0]}(x, y) => x", "1:11", "is no list"},
    {"r: Transpose{p}(x) => Transpose{3}(x)", "1:33", "is a list"},
    {"r: Transpose(x) => x", "1:4", "says nothing of its attribute perm"},
    {"r: Add(x) => x", "1:4", "takes 2 operands, not 1"},
    {"r: Relu(x) => Add(x, x, x)", "1:15", "takes 2 operands, not 3"},
    {"r: Relu(x) => Concat{a}(x)", "1:22", "'a' is not determined"},
    {"r: Relu(x), rnk(x) == 2 => x", "1:13", "did you mean 'rank'"},
    {"r: Relu(x), x == 2 => x", "1:13", "is a tensor, not a number"},
    {"r: Relu(x) => x, rank(x) == 2", "1:18", "is no tensor"},
    {"r: a = Relu(x); b = Sigmoid(x) => a = x", "1:21", "'b' is not given"},
    {"r: a = Relu(x); a = Sigmoid(x) => a = x", "1:17", "bound to two operations"},
    {"r: a = Relu(x); b = Relu(y) => a = x; b = y", "1:21", "shares no activation"},
    {"r: Relu(x) => x\nr: Relu(x) => x", "2:1", "a second rule named 'r', whose first is in bad.rules:1"},
    {"r: Relu(x)", "2:1", "the rule ends too early"},
    {"Relu(x) => x", "1:1", "begins with 'name:'"},
    {"r (finit): Relu(x) => x", "1:4", "unknown mark 'finit'"},
    {"r (): Relu(x) => x", "1:4", "unknown mark ''"},
    {"r (finite, finite): Relu(x) => x", "1:12", "stands here twice"},
    {"r (finite: Relu(x) => x", "1:10", "expected ')'"},
    {"r (finite) Relu(x) => x", "1:12", "begins with 'name:'"},
    {"  r: Relu(x) => x", "1:1", "continues no rule"},
    {"[family\nr: Relu(x) => x", "1:1", "a family header"},
    {"r: y@ = Relu(x@) => y@ = x@", "1:1", "share no operand"},
    {"r: y@ = MatMul(x, w@), const(w@) => z = MatMul(x, w@); y@ = z", "1:37", "varies with the members"},
    {"r: y@ = MatMul(x, w) => y@ = x@", "1:30", "the same for all members"},
    {"r: Unary(x) => x", "1:4", "needs a name"},
    {"r: Conv{*}(x, w) => x", "1:4", "'*' without a name"},
    {"r: (a, b) = Split{c, s}(x) => x", "1:31", "which root"},
    {"r: (a, b) = Relu(x) => a = x; b = x", "1:13", "has one output"},
    {"r: Squeeze{[1]}(LSTM(x, w, r)) => x", "1:17", "LSTM has 3 outputs"},
    {"r: y = Relu(x) => x = y", "1:19", "is an operand of the left side"},
    {"r: y = Relu(x) => y = Sigmoid(y)", "1:23", "reads a value that it replaces"},
    {"r: Relu(x), $ => x", "1:13", "unknown part"},
    {"r: Mul(x, \"abc => x", "1:11", "a string without end"},
    {"r: Relu(x), n == 99999999999999999999 => x", "1:18", "out of range"}};
INSTANTIATE_TEST_SUITE_P(Each, BadRules, ::testing::ValuesIn(kEachBadRules));

const testing::BadRule kKindsBadRules[] = {
    {"r: Relu(x) => Neg(x), Relu(x)", "1:23", "a second result"},
    {"r: y = Relu(x) => y = Neg(x); Relu(x)", "1:31", "a second result"},
    {"r: y = Relu(x) => Neg(x), y = Relu(x)", "1:27", "a second result"},
    {"r: f:Unary(x) => f(x, x)", "1:18", "takes 1 operands, not 2"},
    {"r: f:Binary(x, y) => f(x)", "1:22", "takes 2 operands, not 1"},
    {"r: Relu(x), 3 => x", "1:13", "a guard is a condition"},
    {"r: Relu(x), rank(x) => x", "1:13", "and this is a whole number"},
    {"r: Relu(x), rank(x) + \"a\" == 2 => x", "1:23", "an operand of '+'"},
    {"r: Relu(x), rank(x) == \"a\" => x", "1:21", "never equal"},
    {"r: Relu(x), dims(x) == 0.5 => x", "1:21", "never equal"},
    {"r: Relu(x), not rank(x) => x", "1:17", "an operand of 'not'"},
    {"r: Relu(x), rank(x)[0] == 1 => x", "1:13", "what has elements is a list"},
    {"r: Relu(x), len(rank(x)) == 1 => x", "1:17", "argument 1 is a list"},
    {"r: Relu(x), dims(x) * 0.5 == 1 => x", "1:23", "a list is of whole numbers"},
    {"r: Relu(x), n = rank(x), n => x", "1:26", "a guard is a condition"},
    {"r: Transpose{[1, 0.5]}(x) => x", "1:18", "a list of whole numbers"},
    {"r: Transpose{p}(x) => Transpose{rank(x)}(x)", "1:33", "perm is a list"},
    {"r: Relu(x) => Reshape{[0.5 + rank(x)]}(x)", "1:28", "an element of a list"},
    {"r: Relu(x) => Concat{dims(x)}(x, x)", "1:22", "and this is a list"},
    {"r: Relu(x) => Mul(x, Full(rank(x), 1, x))", "1:27", "its dims, is a list"},
    {"r: Relu(x) => Mul(x, \"a\")", "1:22", "an operand is a number"},
    {"r: a = Relu(x); a = rank(x) => a = x", "1:4", "bound twice"},
    {"r: f:Unary(x), f == 1 => x", "1:16", "is a tensor"},
    {"r: Relu(x)=> (y = x", "1:17", "unexpected"}};
INSTANTIATE_TEST_SUITE_P(Kinds, BadRules, ::testing::ValuesIn(kKindsBadRules));

// Well formed, and never meant.
const testing::BadRule kSenselessBadRules[] = {
    {"r: Relu(x), n in {} => Transpose{n}(x)", "1:15", "'n' has no value"},
    {"r: Relu(x), k in {3, 5} => x", "1:15", "nothing depends on 'k'"},
    {"r: Relu(x) => Softmax{1.5}(x)", "1:23", "axis is a condition or a whole"},
    {"r: Concat{0.5}(x, y) => x", "1:11", "never equal"},
    {"r: Relu(x), rank(x) == 2.5 => x", "1:21", "never equal"},
    {"r: Relu(x) => Softmax{\"a\"}(x)", "1:23", "and this is a text"},
    {"r: Relu(x) => Conv{[3],[1],[1,1],[1],1}(x, none)", "1:44", "operand 2 of Conv cannot be left out"},
    {"r: Relu(x), 3 < 2 => x", "1:13", "the same for every graph"},
    {"r: Relu(x), x.0 / 0 == 1 => x", "1:17", "a division by zero"},
    {"r: Relu(x) => Relu(x)", "1:15", "the right side is the left side"},
    {"r: a = Relu(x); b = Neg(x) => b = Neg(x); a = Relu(x)", "1:31", "the right side is the left side"},
    {"r: Foo(x) => x", "1:4", "unknown operation 'Foo'"},
    {"r: MatMul(x, w) => MatMulInteger(x, w)", "1:20", "unknown operation"},
    {"r: f:MatMulInteger(x, w) => f(w, x)", "1:4", "unknown operation"}};
INSTANTIATE_TEST_SUITE_P(Senseless, BadRules, ::testing::ValuesIn(kSenselessBadRules));

TEST(RuleSet, ThoseThatRewriteHaveOpsOfTheTableAlone) {
  const TempDir folder("regraft_rules");
  const auto file = folder.path() / "a.rules";
  const char* text = "r: MatMulInteger(x, w) => x\n";
  write_file_atomic(file, text);
  EXPECT_EQ(RuleSet::parse(text, "t").size(), 1u);
  EXPECT_THAT([&] { RuleSet::load(file, RuleStatus::tested); },
              ::testing::ThrowsMessage<RuleError>(HasSubstr("a.rules:1:4: rewrites leave this op alone")));
}

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

TEST(RuleSet, AMoveOfAFamilyTakesOneValueOfAFiniteSet) {
  const RuleSet rules = RuleSet::parse(
      "[f, together]\none: Softmax{a}(x), a == k => x, k in {3, 5}\ntwo: Relu(Relu(x)) => Relu(x)\n",
      "t.rules");
  EXPECT_EQ(rules.together_with(0), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(rules.together_with(1), (std::vector<std::uint32_t>{1, 2}));
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

TEST(RuleSet, AsManyShippedRulesAreLoadedAsTheirPageSays) {
  const std::string page = read_file(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules/README.md");
  EXPECT_THAT(page, HasSubstr("\n" + std::to_string(shipped().size()) + " rules are loaded by default."));
  EXPECT_THAT(page, HasSubstr("\n| all " + std::to_string(all_shipped().size()) + " |"));
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
}
