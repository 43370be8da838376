#pragma once

#include <string>
#include <vector>

namespace regraft::proof {

/// Rules that look right and are not, each by one mistake.
struct UnsoundRule {
  const char* name;
  std::string text;
};

inline constexpr auto by_name = [](const auto& each) { return each.param.name; };

inline std::vector<UnsoundRule> unsound_rules() {
  return {
      {"WrongEpsilon",
       "r: BatchNormalization{eps}(x, scale, beta, mean, var), const(scale, beta, mean, var), rank(x) == 3\n"
       "    => t = scale / Sqrt(var + eps + eps); Add(Mul(x, Unsqueeze{[1]}(t)), Unsqueeze{[1]}(beta - mean "
       "* t))\n"},
      {"LostDilation",
       "r: Conv{k=3,s,p=2,d=2,g}(x, w)\n"
       "    => Conv{[3 for i in s],s,[1 for i in s ++ s],[1 for i in s],g}(x, w)\n"},
      {"GroupedMergedAsUngrouped",
       "r: y@ = Conv{k,s,p,d,g}(x, w@), const(w@)\n"
       "    => z = Conv{k,s,p,d,g}(x, Concat{0}(w@...)); (y@...) = Split{1, [w@.0...]}(z)\n"},
      {"TransposedOperandSwapped",
       "r: Transpose{p}(MatMul(x, y)), p == [1, 0], rank(x) == 2, rank(y) == 2, dims(x) == dims(y), x.0 == "
       "x.1\n"
       "    => MatMul(Transpose{p}(x), Transpose{p}(y))\n"},
      {"WrongAxis",
       "r: Gather{a}(MatMul(x, w), i), const(i, w), rank(i) == 1, rank(w) == 2, a == rank(x) - 1\n"
       "    => MatMul(x, Gather{0}(w, i))\n"},
      {"WrongPermutation", "r: Transpose{p}(Transpose{q}(x)), rank(x) == 3 => Transpose{permute(p, q)}(x)\n"},
      {"UnscaledBias",
       "r: Mul(Add(MatMul(x, w), b), c), const(w, b, c), size(c) == 1, rank(c) == 0 => Add(MatMul(x, w * c), "
       "b)\n"},
      {"PoolOfNegative", "r: f:MaxPool{*}(Neg(x)) => Neg(f(x))\n"},
      {"AverageWithoutPadding",
       "r: Conv{k=1,s=1,p=0,d,g}(f:AveragePool{*}(x), w, b?) => f(Conv{k=[1 for i in dims(x)[2:]],g=g}(x, w, "
       "b))\n"},
      {"ReluOfAnyScale", "r: Relu(Mul(x, c)), scalar(c), const(c) => Mul(Relu(x), Neg(c))\n"},
      // TASO's four on grouped convolutions: it takes the channels of both sides for those of one group.
      {"TasoConcatOfInputs",
       "r: Conv{k,s,p,d,g}(Concat{axis=1}(x, y), w), const(w), x.1 == y.1, w.1 even => n = w.1 / 2;\n"
       "    Add(Conv{k,s,p,d,g}(x, Slice{[0],[n],[1],[1]}(w)), Conv{k,s,p,d,g}(y, "
       "Slice{[n],[w.1],[1],[1]}(w)))\n"},
      {"TasoSumOfConvs",
       "r: Add(Conv{k,s,p,d,g}(x, w), Conv{k,s,p,d,g}(y, u)), const(w, u), dims(x) == dims(y)\n"
       "    => Conv{k,s,p,d,g}(Concat{1}(x, y), Concat{1}(w, u))\n"},
      {"TasoConcatOfOutputs",
       "r: Concat{axis=1}(Conv{k,s,p,d,g}(x, w), Conv{k,s,p,d,g}(x, u)), const(w, u)\n"
       "    => Conv{k,s,p,d,g}(x, Concat{0}(w, u))\n"},
      {"TasoSplitWeights",
       "r: (a, b) = Split{axis=1,sizes=t}(Conv{k,s,p,d,g}(x, w)), const(w), t[0] == t[1] => n = t[0];\n"
       "    a = Conv{k,s,p,d,g}(x, Slice{[0],[n],[0],[1]}(w)); b = Conv{k,s,p,d,g}(x, Slice{[n],[2 * "
       "n],[0],[1]}(w))\n"},
  };
}

}
