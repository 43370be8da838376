// Values that are written out in a rule and that no graph has: errors when the rule is read.
#include <gmock/gmock.h>

#include "core/rules/bad_rule.h"

namespace regraft::rules {
namespace {

class BadValues : public ::testing::TestWithParam<testing::BadRule> {};

TEST_P(BadValues, AreRefusedWithPlaceAndRemedy) {
  testing::expect_refused(GetParam());
}

const testing::BadRule kDivisorsBadValues[] = {
    {"r: Relu(x) => Div(x, 0)", "1:22", "a division by zero"},
    {"r: Relu(x) => Div(x, 0.0)", "1:22", "a division by zero"},
    {"r: Relu(x) => Div(x, -0)", "1:22", "a division by zero"},
    {"r: Relu(x) => Add(x, Div(x, 1 - 1))", "1:31", "a division by zero"},
    {"r: Relu(x) => Div(x, 1 / 2)", "1:24", "a division by zero"},
    {"r: Relu(x) => x / 0", "1:17", "a division by zero"},
    {"r: Relu(x) => Reciprocal(0) * x", "1:26", "a division by zero"},
    {"r: Relu(x) => Div(x, Full([1], 0, x))", "1:22", "a division by zero"},
    {"r: Relu(x) => c = Values([1, 0], [2], x); x / c", "1:45", "a division by zero"},
    {"r: Relu(x), n = 2 => m = n - 2; Div(x, m)", "1:40", "a division by zero"},
    {"r: f:Div(x, y) => f(x, 0)", "1:24", "a division by zero"},
    {"r: Div(x, 0) => x", "1:11", "a division by zero"},
    {"r: Relu(Div(x, 0.0)) => x", "1:16", "a division by zero"},
    {"r: Relu(x), 1.0 / (2 - 2) == 1 => x", "1:17", "a division by zero"},
    {"r: Relu(x), x.0 % (1 - 1) == 0 => x", "1:17", "a division by zero"},
    {"r: Relu(x), dims(x) / [1, 0] == 1 => x", "1:21", "a division by zero"},
    {"r: Relu(x) => Reshape{[x.0 / (3 % 3)]}(x)", "1:28", "a division by zero"}};
INSTANTIATE_TEST_SUITE_P(Divisors, BadValues, ::testing::ValuesIn(kDivisorsBadValues));

const testing::BadRule kAxesBadValues[] = {
    {"r: Concat{7}(x, y), rank(x) == 2 => x", "1:11", "'x' has at most 2 dims"},
    {"r: Relu(x), rank(x) == 2 => Gather{axis=7}(x, Ints([0]))", "1:41",
     "axis 7, where a guard says that 'x' has at most 2 dims"},
    {"r: Relu(x), rank(x) < 2 => Softmax{-2}(x)", "1:36", "axis -2, where"},
    {"r: Relu(x), 3 >= rank(x) => Softmax{3}(x)", "1:37", "at most 3 dims"},
    {"r: Relu(x), rank(x) in {1, 2} => Softmax{2}(x)", "1:42", "at most 2 dims"},
    {"r: Relu(x), n = 2, rank(x) == n and x.0 == 1 => Softmax{n}(x)", "1:57", "axis 2"},
    {"r: Relu(x), rank(x) == 2 => Transpose{[0, 2, 1]}(x)", "1:39", "axis 2, where"},
    {"r: Relu(x), rank(x) == 2 => Flatten{3}(x)", "1:37", "axis 3, where"},
    {"r: Relu(x), rank(x) == 2 => Unsqueeze{[3]}(x)", "1:39", "axis 3, where"},
    {"r: Relu(x), rank(x) == 2, x.2 == 1 => x", "1:29", "dim 2, where"},
    {"r: Relu(x), rank(x) == 1 => Reshape{[x.-2]}(x)", "1:41", "has at most 1 dim "},
    {"r: Softmax{-1}(x) => x", "1:12", "counts from the front"}};
INSTANTIATE_TEST_SUITE_P(Axes, BadValues, ::testing::ValuesIn(kAxesBadValues));

const testing::BadRule kTextsBadValues[] = {
    {"r: Pad{p,mode=\"reflekt\"}(x) => x", "1:15", "did you mean 'reflect'?"},
    {"r: Relu(x) => Pad{[1, 1],mode=\"zero\"}(x)", "1:31",
     "'zero' is no mode of Pad (one of constant, edge, reflect, wrap)"},
    {"r: Gelu{approximate=\"tan\"}(x) => Relu(x)", "1:21", "did you mean 'tanh'?"},
    {"r: Relu(x) => Gelu{if rank(x) == 2 then \"none\" else \"tan\"}(x)", "1:53",
     "'tan' is no approximate of Gelu"},
    {"r: Relu(x) => m = \"tan\"; Gelu{m}(x)", "1:31", "'tan' is no approximate"},
    {"r: Pad{p,mode=m}(x), m == \"reflekt\" => x", "1:27", "did you mean 'reflect'?"},
    {"r: f:Gelu{a}(x), a in {\"none\", \"tan\"} => x", "1:32", "did you mean 'tanh'?"},
    {"r: f:Gelu{*}(x) => f{\"erf\"}(x)", "1:22", "one of none, tanh"}};
INSTANTIATE_TEST_SUITE_P(Texts, BadValues, ::testing::ValuesIn(kTextsBadValues));

const testing::BadRule kKnownBadValues[] = {
    {"r: Transpose{[0, 0]}(x) => x", "1:14", "no permutation (write each of 0 to 1 once)"},
    {"r: Transpose{[5, 7]}(x) => x", "1:14", "a perm that is no permutation"},
    {"r: Transpose{p}(x) => Transpose{[1, 2]}(x)", "1:33", "a perm that is no permutation"},
    {"r: f:Transpose{p}(x) => f{[-1, 0]}(x)", "1:27", "a perm that is no permutation"},
    {"r: Cast{to=99}(x) => x", "1:12", "99 is no element type of ONNX"},
    {"r: Relu(x) => Cast{to=0}(x)", "1:23", "0 is no element type of ONNX"},
    {"r: Relu(x), dtype(x) == flaot32 => x", "1:25",
     "'flaot32' is no element type (did you mean 'float32'?)"},
    {"r: Relu(x), strange != dtype(x) => x", "1:13", "one of float32, float16, "},
    {"r: Relu(x), dtype(x) in {float32, int46} => x", "1:35", "did you mean 'int64'?"},
    {"r: Relu(x), rank(x) in {} => x", "1:21", "an empty set"},
    {"r: Softmax{a}(x), a in {} => x", "1:21", "an empty set"}};
INSTANTIATE_TEST_SUITE_P(Known, BadValues, ::testing::ValuesIn(kKnownBadValues));

const testing::BadRule kUnusedBadValues[] = {
    {"r: Relu(x) => t = Neg(x); Abs(x)", "1:15", "'t' is made and never used"},
    {"r: Relu(x) => n = rank(x); Abs(x)", "1:15", "'n' is made and never used"},
    {"r: y = Relu(x) => t = Neg(x), y = Abs(x)", "1:19", "'t' is made and never used"},
    {"r: Relu(x) => a = Neg(x); b = Abs(a); Abs(x)", "1:27", "'b' is made and never"},
    {"r: Relu(x) => (a, b) = Split{0, [1, 1]}(x); Abs(x)", "1:16", "'a' is made and"}};
INSTANTIATE_TEST_SUITE_P(Unused, BadValues, ::testing::ValuesIn(kUnusedBadValues));

TEST(CompileValues, WhatAGraphMayHaveIsAccepted) {
  for (const char* text :
       {"r: Relu(x) => Div(x, 0.5)",
        "r: Relu(x) => Div(0, x)",
        "r: Relu(x), x.0 / (2 - 1) == 4 => x",
        "r: Relu(x), sum([x.0 % n for n in range(1, 3)]) == 0, n = 0, n < rank(x) => x",
        "r: Relu(x) => Div(x, Full([1], 3 / 2, x))",
        "r: f:Binary(x, y) => f(x, 0)",
        "r: Relu(x), rank(x) == 2 => Softmax{1}(x)",
        "r: Relu(x), rank(x) == 2 => Softmax{-2}(x)",
        "r: Relu(x), rank(x) == 2 or rank(x) == 4 => Softmax{3}(x)",
        "r: Relu(x), rank(x) in {2, 4}, x.3 == 2 => Softmax{3}(x)",
        "r: Relu(x), rank(x) == 2 => Flatten{2}(x)",
        "r: Relu(x), rank(x) == 2 => Unsqueeze{[2]}(x)",
        "r: Relu(x) => Softmax{7}(x)",
        "r: Transpose{[2, 0, 1]}(x) => Transpose{[1, 2, 0]}(x)",
        "r: Cast{to=float32}(x), dtype(x) in {float16, int64} => Cast{to=23}(x)",
        "r: Cast{to=t}(x), dtype(x) == t => x",
        "r: Pad{p,mode=\"edge\"}(x) => Pad{p,mode=\"wrap\"}(x)",
        "r: Gelu{\"tanh\"}(x) => Gelu{\"none\"}(x)",
        "r: f:Gelu{a}(x), a == \"none\" => f(Abs(x))",
        "r: y = Relu(x); z = Neg(y) => y = Abs(x), z = Neg(x)",
        "r: Relu(x) => (a, b) = Split{0, [1, 1]}(x); Abs(b)",
        "r: Relu(x) => n = rank(x); m = n - 1; Softmax{m}(x)",
        ("r: y@ = MatMul(x, w@) => t@ = Neg(w@); z = MatMul(x, Concat{1}(t@...)); n = rank(z) - 1; "
         "(y@...) = Split{n, [w@.1...]}(z)")}) {
    try {
      RuleSet::parse(std::string(text) + "\n", "fine.rules");
    } catch (const RuleError& e) {
      ADD_FAILURE() << text << "\n" << e.what();
    }
  }
}

// Each name is computed once, although each stands twice in the next.
TEST(CompileValues, NamesThatAreMadeFromEachOtherTakeNoTime) {
  std::string text = "r: Relu(x), n0 = 1";
  for (int i = 1; i <= 60; ++i) {
    const std::string last = "n" + std::to_string(i - 1);
    text += ", n" + std::to_string(i) + " = " + last + " - " + last + " + " + last;
  }
  EXPECT_NO_THROW(RuleSet::parse(text + ", x.0 / n60 == 2 => x\n", "doubled"));
  EXPECT_THROW(RuleSet::parse(text + ", x.0 / (n60 - 1) == 2 => x\n", "doubled"), RuleError);
}

}  // namespace
}
