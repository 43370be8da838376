#include "core/rules/lang/pretty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/rules/lang/parse_rules.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {
namespace {

bool same(const Expr& a, const Expr& b) {
  const bool here = a.form == b.form && a.text == b.text && a.label == b.label && a.classes == b.classes &&
                    a.member_set == b.member_set && a.member == b.member && a.copy_attrs == b.copy_attrs &&
                    a.integer == b.integer && a.real == b.real && a.args.size() == b.args.size() &&
                    a.attrs.size() == b.attrs.size();
  if (!here) return false;
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    if (!same(a.args[i], b.args[i])) return false;
  }
  for (std::size_t i = 0; i < a.attrs.size(); ++i) {
    if (a.attrs[i].name != b.attrs[i].name || a.attrs[i].compare != b.attrs[i].compare ||
        !same(a.attrs[i].value, b.attrs[i].value))
      return false;
  }
  return true;
}

bool same(const std::vector<Clause>& a, const std::vector<Clause>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].targets.size() != b[i].targets.size() || !same(a[i].value, b[i].value)) return false;
    for (std::size_t k = 0; k < a[i].targets.size(); ++k) {
      const Target &s = a[i].targets[k], &t = b[i].targets[k];
      if (s.name != t.name || s.member_set != t.member_set || s.member != t.member || s.spread != t.spread)
        return false;
    }
  }
  return true;
}

void expect_same_when_read_again(const RuleText& rule) {
  const std::string text = pretty(rule);
  const auto again = parse_rules(text + "\n", "pretty");
  ASSERT_EQ(again.size(), 1u) << text;
  EXPECT_EQ(again[0].name, rule.name);
  EXPECT_EQ(again[0].marks, rule.marks);
  EXPECT_TRUE(same(again[0].left, rule.left) && same(again[0].right, rule.right)) << rule.text << "\n"
                                                                                  << text;
  EXPECT_EQ(pretty(again[0]), text);
}

TEST(Pretty, ShippedRulesReadBackAsTheSame) {
  std::size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules")) {
    if (entry.path().extension() != ".rules") continue;
    for (const RuleText& rule : parse_rules(read_file(entry.path()), entry.path().string())) {
      expect_same_when_read_again(rule);
      ++seen;
    }
  }
  EXPECT_GT(seen, 100u);
}

// Random expressions of the grammar, fully parenthesised, so that what they mean does not depend on
// precedence.
class RandomExpression {
 public:
  explicit RandomExpression(Rng& rng) : rng_(rng) {}

  std::string make(int depth) {
    if (depth == 0) return leaf();
    const auto inner = [&] { return "(" + make(depth - 1) + ")"; };
    switch (rng_.below(14)) {
      case 0:
        return "not " + inner();
      case 1:
        return "-" + inner();
      case 2:
        return inner() + pick({" odd", " even"});
      case 3:
        return "[" + make(depth - 1) + " for i in " + inner() + (rng_.below(2) ? " if " + inner() : "") + "]";
      case 4:
        return "if " + inner() + " then " + inner() + " else " + inner();
      case 5:
        return "(" + make(depth - 1) + ")[" + make(depth - 1) + "]";
      case 6:
        return inner() + "[" + pick({"", "1"}) + ":" + pick({"", "n"}) + "]";
      case 7:
        return "[" + inner() + ", " + inner() + "...]";
      case 8:
        return "len(" + inner() + ", " + inner() + ")";
      case 9:
        return "Conv{" + make(depth - 1) + ", g=" + inner() + "}(" + inner() + ")";
      default:
        return inner() + " " +
               pick({"or", "and", "==", "!=", "<", "in", "??", "++", "+", "-", "*", "/", "%", ">="}) + " " +
               inner();
    }
  }

 private:
  std::string pick(std::vector<std::string> from) { return from[rng_.below(from.size())]; }
  std::string leaf() {
    return pick({"x", "w@", "q@p", "7", "0.5", "1e-05", "1.0", "w.0", "x.-1", "\"same\"", "[]"});
  }

  Rng& rng_;
};

TEST(Pretty, RandomExpressionsReadBackAsTheSame) {
  constexpr std::uint64_t seed = 11;
  SCOPED_TRACE(seed);
  Rng rng(seed, "expressions");
  for (int i = 0; i < 3000; ++i) {
    const std::string text = "r: Relu(x), " + RandomExpression(rng).make(1 + i % 4) +
                             "; f:{Relu,Tanh}{*}(y) => (a, b@...) = " + RandomExpression(rng).make(2) +
                             "; f{}(z)\n";
    expect_same_when_read_again(parse_rules(text, "random").at(0));
  }
}

TEST(Pretty, ParenthesesOnlyWhereTheyAreNeeded) {
  EXPECT_EQ(pretty("r: Relu(x), ((a) + (b * c)) == (d)=>x"), "r: Relu(x), a + b * c == d => x");
  EXPECT_EQ(pretty("r: Relu(x), (a + b) * c == d - (e - f) => x"),
            "r: Relu(x), (a + b) * c == d - (e - f) => x");
  EXPECT_EQ(pretty("r: y = Relu(x) ; const(w)=>y=x"), "r: y = Relu(x); const(w) => y = x");
}

}  // namespace
}
