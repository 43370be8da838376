#pragma once

#include "core/proof/exact/unsound_rules.h"

namespace regraft::proof {

/// Rules that are right nearly everywhere: each is wrong in one corner alone, and its guards do not say
/// which.
inline std::vector<UnsoundRule> planted_rules() {
  return {
      {"NegativeConstant", "r: Relu(Mul(x, c)), scalar(c), const(c) => Mul(Relu(x), c)\n"},
      {"ZeroConstant", "r: Mul(x, c), scalar(c), const(c) => Mul(x, Add(c, Sub(1.0, Abs(Sign(c)))))\n"},
      {"NegativeElement", "r: Mul(x, c), const(c), rank(c) == 1 => Mul(x, Abs(c))\n"},
      {"ZeroElement", "r: Mul(x, c), const(c), rank(c) == 1 => Mul(x, Add(c, Sub(1.0, Abs(Sign(c)))))\n"},
      {"NegativeAlpha",
       "r: Relu(Gemm{alpha,beta,ta,tb}(x, w)), alpha != 1 => Mul(Relu(Gemm{1.0,beta,ta,tb}(x, w)), alpha)\n"},
      // Nothing but the class is known of f and g, so that they may be of integers.
      {"IntegerDivision", "r: f:{Mul,Div}(g:{Mul,Div}(x, c), c), const(c), rank(c) == 0 => g(f(x, c), c)\n"},
      {"StepOfTwo",
       "r: Slice{[i], [j], [a], [t]}(x) => n = if t == 2 then 1 else 0; Slice{[i + n], [j + n], [a], "
       "[t]}(x)\n"},
      {"PadOfOneSide", "r: Pad{pads=p}(x), rank(x) == 1 => Pad{pads=reverse(p)}(x)\n"},
      {"NegativePad", "r: Relu(Pad{pads=p}(x)), p < 1 => Relu(Pad{pads=reverse(p)}(x))\n"},
      {"PadOfANumber", "r: Relu(Pad{pads=p, value=v}(x)) => Pad{pads=p, value=v}(Relu(x))\n"},
      {"TransposedFirstOperand",
       "r: Gemm{alpha,beta,ta,tb}(x, w, c?), x.0 == x.1 => Gemm{alpha,beta,0,tb}(x, w, c)\n"},
      {"NormOverMoreDims",
       "r: LayerNormalization{axis=a,epsilon=e}(x, s, b?), rank(s) == 1 => LayerNormalization{rank(x) - 1, "
       "e}(x, "
       "s, b)\n"},
      {"RowsFromTheEnd",
       "r: Gather{axis=0}(Concat{axis=0}(x, y), i), const(i), rank(i) == 1, max(ints(i)) < x.0 => "
       "Gather{0}(x, "
       "i)\n"},
      {"VectorOperand",
       "r: MatMul(x, w), rank(w) == 2, w.0 == w.1 => MatMul(x, Transpose{if rank(x) == 1 then [1, 0] else "
       "[0, "
       "1]}(w))\n"},
      {"SmallerFirstOperand",
       "r: Sub(x, y), rank(y) == 2, y.0 == y.1 => Sub(x, Transpose{if rank(x) < 2 then [1, 0] else [0, "
       "1]}(y))\n"},
      {"SmallerFirstBatch",
       "r: MatMul(x, w), rank(x) == 3, rank(w) == 3, w.0 == w.1, w.1 == w.2\n"
       "    => MatMul(x, Transpose{if x.0 < w.0 then [1, 0, 2] else [0, 1, 2]}(w))\n"},
      {"ColumnOfAGemm",
       "r: Gemm(x, w, c), rank(c) == 2, size(c) == c.0, x.0 == w.1 => Gemm(x, w, Transpose{[1, 0]}(c))\n"},
      {"TwoAxes",
       "r: ReduceMean{q, keepdims=0}(x) => ReduceMean{[(i + len(q) - 1) % rank(x) for i in q], 0}(x)\n"},
      {"RankOfFive",
       "r: Transpose{p}(Transpose{q}(x)) => Transpose{if len(p) == 5 then range(5) else permute(q, p)}(x)\n"},
      {"SetOfFour",
       "r: Concat{a}(Relu(x@)...) => Concat{a}(LeakyRelu{if index@ > 2 then 1.0 else 0.0}(x@)...)\n"},
      // Right for all dims that are numbers, where bounds are counted from the front.
      {"SliceOfASymbol",
       "r: Gather{a}(Slice{[o], [e], [a], [1]}(x), i), const(i), rank(i) == 1, min(ints(i)) >= 0\n"
       "    => Gather{a}(x, Ints(ints(i) + o))\n"},
  };
}

/// Rules that are wrong for some attributes, indices or sizes alone.
inline std::vector<UnsoundRule> size_rules() {
  return {
      {"RowsInSomeOrder",
       "r: Gather{a}(x, i), const(i), rank(i) == 1, permutation(ints(i)), size(i) == dims(x)[a]\n"
       "    => Gather{a}(x, Ints(invert(ints(i))))\n"},
      {"RowsThatAreNotNeighbours",
       "r: Gather{a}(x, i), const(i), rank(i) == 1, size(i) >= 3 => Slice{[ints(i)[0]], [ints(i)[0] + "
       "size(i)], "
       "[a], [1]}(x)\n"},
      {"PartsOfOtherSizes",
       "r: Slice{[i], [j], [a], [1]}(Concat{a}(x, y)), i >= dims(x)[a] => Slice{[i - dims(y)[a]], [j - "
       "dims(y)[a]], [a], [1]}(y)\n"},
      // Where the bounds come out below 0 they are counted from the end.
      {"BoundsBelowZero",
       "r: Slice{[i], [j], [a], [1]}(Concat{a}(x, y)), i >= dims(y)[a] => Slice{[i - dims(x)[a]], [j - "
       "dims(x)[a]], [a], [1]}(y)\n"},
      {"AxisBelowZero", "r: Softmax{a}(Relu(x)), rank(x) == 2 => Softmax{a - 1}(Relu(x))\n"},
      {"PartsInOrder",
       "r: (q, k, v) = Split{a, s}(x) => q = Slice{[0], [s[0]], [a], [1]}(x); k = Slice{[s[1]], [2 * s[1]], "
       "[a], "
       "[1]}(x); v = Slice{[2 * s[1]], [2 * s[1] + s[2]], [a], [1]}(x)\n"},
      {"HolesInWindows",
       "r: Conv{k,s=1,p,d,g}(x, w), e = (k - 1) / 2 * d, p == e ++ e\n"
       "    => Conv{k,s=[1 for i in k],p=(k - 1) / 2 ++ (k - 1) / 2,d=[1 for i in k],g=g}(x, w)\n"},
      {"ManyOutputChannels",
       "r: Conv{k,s,p,d,g}(Neg(x), w) => Mul(Conv{k,s,p,d,g}(x, w), if w.0 > 2 * g then 1.0 else -1.0)\n"},
      {"StridesOfThree",
       "r: Conv{k,s,p,d,g}(Neg(x), w) => Mul(Conv{k,s,p,d,g}(x, w), if max(s) > 2 then 1.0 else -1.0)\n"},
      {"RowsOfAReshape", "r: Softmax{a}(Reshape{r}(x)), len(r) == rank(x) => Reshape{r}(Softmax{a}(x))\n"},
      {"TwoNewAxes",
       "r: Softmax{a}(Unsqueeze{q}(x)), a > q[0], not a in q => Unsqueeze{q}(Softmax{a - 1}(x))\n"},
      {"SmallEpsilon",
       "r: BatchNormalization{eps}(Relu(x), s, b, m, v)\n"
       "    => BatchNormalization{(if eps > 0.001 then eps else 0.001)}(Relu(x), s, b, m, v)\n"},
      {"SmallAlpha", "r: LeakyRelu{a}(x), a > 0 => LeakyRelu{(if a > 0.25 then a else 0.25)}(x)\n"},
      {"HalfAndBack", "r: Cast{to=1}(Cast{to=10}(x)), float(x) => Cast{1}(x)\n"},
      {"TypeOfElements", "r: Mul(x, 2) => Mul(x, if dtype(x) == float64 then 3.0 else 2.0)\n"},
      // 2^61 is 1 in the prime field.
      {"OneOfTheField", "r: Mul(x, 2305843009213693952.0) => Identity(x)\n"},
      {"GuardedDivision", "r: Where(Equal(y, 0.0), Neg(z), Reciprocal(y)) => Reciprocal(y)\n"},
      {"BroadcastBothWays",
       "r: ReduceSum{[a], 1}(Add(x, y)), rank(x) == rank(y), size(x) > size(y), dims(y)[a] > 1 => "
       "Add(ReduceSum{[a], "
       "1}(x), ReduceSum{[a], 1}(y))\n"},
      {"RowsOfAReshapeThatKeepsThem",
       "r: Softmax{a}(Reshape{r}(x)), len(r) == rank(x), r[a] == dims(x)[a] => Reshape{r}(Softmax{a}(x))\n"},
      {"PermutationBeforeFlatten", "r: Flatten{1}(Transpose{p}(x)), p[0] == 0 => Flatten{1}(x)\n"},
      {"RowsFromTheEndByThrees",
       "r: Neg(Gather{a}(Neg(x), i)), const(i), rank(i) == 1\n"
       "    => Mul(Gather{a}(x, i), if len([k for k in ints(i) if k < 0]) > 2 then -1.0 else 1.0)\n"},
      {"ManyReaders", "r: LeakyRelu{a}(x) => LeakyRelu{if uses(x) > 2 then 2 * a else a}(Identity(x))\n"},
      {"FiveReadersOfAResult", "r: y = Neg(x), Relu(y) => LeakyRelu{if uses(y) > 5 then 0.5 else 0.0}(y)\n"},
      {"SumOfWeights",
       "r: Conv{k,s,p,d,g}(x, Add(v, w)), rank(x) == 3\n"
       "    => Add(Conv{k,s,p,d,x.1 / v.1}(x, v), Conv{k,s,p,d,x.1 / w.1}(x, w))\n"},
      {"WeightsOfJoinedParts",
       "r: Conv{k,s,p,d,g}(x, Concat{0}(v, w))\n"
       "    => Concat{1}(Conv{k,s,p,d,g}(x, v), Conv{k,s,p,d,g}(x, w))\n"},
      {"ConvolvedWithItself", "r: Conv{k,s,p,d,g}(Neg(x), Neg(x)) => Neg(Conv{k,s,p,d,g}(x, x))\n"},
      {"LengthAboveFour", "r: Relu(x) => LeakyRelu{if max(dims(x)) > 4 then 1.0 else 0.0}(x)\n"},
  };
}

/// Rules that are wrong for some values of their inputs alone: beyond or on a threshold, on a step, at zero.
inline std::vector<UnsoundRule> value_rules() {
  return {
      {"BeyondTheUpperBound", "r: Min(x, 100.5) => Identity(x)\n"},
      {"BeyondTheUpperBoundOfRelu", "r: Min(Relu(x), 6.5) => Relu(x)\n"},
      {"BranchOfLargeValues", "r: Where(Greater(x, 50.5), Neg(x), Mul(x, 2.0)) => Mul(x, 2.0)\n"},
      {"WhereSoftplusIsSmall", "r: Relu(Add(Softplus(x), -0.1)) => Add(Softplus(x), -0.1)\n"},
      {"DivisorBelowItsBound", "r: Div(x, Max(Abs(y), 1e-6)) => Div(x, Abs(y))\n"},
      {"SquareBeyondAThousand", "r: Min(Mul(x, x), 1000.5) => Mul(x, x)\n"},
      {"BoundOfTheRightSideAlone", "r: Sub(x, y) => Min(Add(x, Neg(y)), 3e5)\n"},
      {"LargeConstant", "r: Mul(x, c), const(c), rank(c) == 1 => Mul(x, Min(c, 10.5))\n"},
      {"LargeNumber", "r: Mul(x, c), const(c), scalar(c) => Mul(x, Min(c, 10.5))\n"},
      {"SmallNumber", "r: Mul(x, c), const(c), scalar(c) => Mul(x, Mul(Sign(c), Max(Abs(c), 0.1)))\n"},
      {"SignOfAlmostZero", "r: Sign(Relu(x)) => Sign(Relu(Add(x, 1e-5)))\n"},
      {"HalvesRoundToEven", "r: Round(x) => Floor(Add(x, 0.5))\n"},
      {"FloorOfWholeNumbers", "r: Floor(x) => Sub(Ceil(x), 1.0)\n"},
      {"TruncatedIsNotRounded", "r: Cast{to=7}(x) => Cast{7}(Round(x))\n"},
      {"BoundsOfClip", "r: Clip{min=a,max=b}(Neg(x)) => Neg(Clip{min=-b,max=-a}(x))\n"},
      {"LowerBoundAboveZero", "r: Relu(Clip{min=a,max=b}(x)) => Clip{min=0.0,max=b}(x)\n"},
      {"OtherGelu", "r: Neg(Gelu{approximate=m}(x)) => Neg(Gelu{approximate=\"none\"}(x))\n"},
      {"OtherPad", "r: Neg(Pad{pads=p,mode=m}(Neg(x))) => Pad{pads=p}(x)\n"},
      {"KernelOfTwo",
       "r: Conv{k=k,s,p,d,g}(Neg(x), w), rank(x) == 3\n"
       "    => Mul(Conv{k,s,p,d,g}(x, w), if k == 2 then 1.0 else -1.0)\n"},
      {"GroupsOfThree",
       "r: Conv{k,s,p,d,g}(Neg(x), w) => Mul(Conv{k,s,p,d,g}(x, w), if g == 3 then 1.0 else -1.0)\n"},
      {"ThreeAxes",
       "r: ReduceSum{q, keepdims=0}(x), rank(x) == 4 => ReduceSum{if len(q) == 3 then [0, 1, 2] else q, "
       "0}(Identity(x))\n"},
      {"RowsBeyondTheFirst",
       "r: Gather{axis=0}(Neg(x), i), rank(x) == 1, x.0 == 4 => Neg(Gather{0}(Concat{0}(Slice{[0], [1], [0], "
       "[1]}(x), x), i))\n"},
  };
}

/// Rules that are wrong beyond a number alone that they name: of members, heads, parts, or of a size.
inline std::vector<UnsoundRule> named_rules() {
  return {
      {"SetOfSeven",
       "r: Concat{a}(Relu(x@)...) => Concat{a}(LeakyRelu{if index@ > 5 then 1.0 else 0.0}(x@)...)\n"},
      {"RowsTurnedInLargeSets",
       "r: y@ = Add(x, c@), const(c@), rank(c@) == 1, size(c@) > 1\n"
       "    => y@ = Add(x, Gather{0}(c@, Ints([(i + count@ / 6) % size(c@) for i in range(size(c@))])))\n"},
      {"UpperBoundOfTen", "r: Clip{min=a,max=b}(x) => Clip{min=a,max=(if b < 10.0 then b else 10.0)}(x)\n"},
      {"LowerBoundOfMinusFifty",
       "r: Clip{min=a,max=b}(x) => Clip{min=(if a > -50.0 then a else -50.0),max=b}(x)\n"},
      {"TwoHeads",
       "r: MultiHeadAttention{n, s}(Mul(q, 1), k, v) => MultiHeadAttention{min(n, 2), s}(q, k, v)\n"},
      {"FourHeads", "r: MultiHeadAttention{n, s}(q, k, v) => MultiHeadAttention{min(n, 4), s}(q, k, v)\n"},
      {"TwentyChannels",
       "r: Conv{k,s,p,d,g}(Neg(x), w) => Mul(Conv{k,s,p,d,g}(x, w), if x.1 > 20 then 1.0 else -1.0)\n"},
      {"KernelOfSeven",
       "r: Conv{k,s,p,d,g}(Neg(x), w) => Mul(Conv{k,s,p,d,g}(x, w), if max(k) >= 7 then 1.0 else -1.0)\n"},
      {"LengthAboveThirty", "r: Relu(x) => LeakyRelu{if max(dims(x)) > 30 then 1.0 else 0.0}(x)\n"},
      {"ScaleAboveAThousand",
       "r: Relu(Mul(x, c)), const(c), scalar(c), value(c) > 0 => Mul(LeakyRelu{if value(c) > 1000.0 then 1.0 "
       "else "
       "0.0}(x), c)\n"},
  };
}

/// Rules that are wrong for some types alone.
inline std::vector<UnsoundRule> type_rules() {
  return {
      {"HalfFloats", "r: Relu(x) => Max(x, if dtype(x) == float16 then 1.0 else 0.0)\n"},
      {"UnsignedBytes", "r: Cast{to=t}(Relu(x)), t != 9 => Relu(Cast{t}(x))\n"},
      {"MaximumOfUnsignedBytes", "r: Cast{to=t}(Max(x, 0)), t != 9 => Max(Cast{t}(x), 0)\n"},
      {"BytesOfAClip",
       "r: Cast{to=t}(Clip{min=a,max=b}(x)), t != 9, t != 6, t != 7 => Clip{min=a,max=b}(Cast{t}(x))\n"},
      {"IndicesOf32Bits",
       "r: Neg(Gather{a}(Neg(x), i)) => Mul(Gather{a}(x, i), if dtype(i) == int32 then -1.0 else 1.0)\n"},
      {"UnsignedOf16Bits", "r: Cast{to=t}(Relu(x)), t != 9, t != 2, t != 12 => Relu(Cast{t}(x))\n"},
      {"StepsOfSlices",
       "r: Slice{[i], [j], [a], [s]}(Slice{[k], [l], [a], [t]}(x))\n"
       "    => Slice{[k + i * t], [k + j * t], [a], [s + t - 1]}(x)\n"},
  };
}

/// Rules whose right side is no number where the left side is one. What the prover follows are terms alone:
/// it is the examples that find them.
inline std::vector<UnsoundRule> undefined_rules() {
  return {
      {"QuotientOfAZeroConstant",
       "r: Add(Mul(x, c), d), const(c, d), scalar(c, d) => Mul(Add(x, Div(d, c)), c)\n"},
      {"InverseOfAZeroConstant", "r: Mul(x, c), const(c), scalar(c) => Div(x, Div(1.0, c))\n"},
      {"LogarithmOfWhatVanishes", "r: Mul(x, 0.0) => Mul(Log(x), 0.0)\n"},
      {"QuotientThatVanishes", "r: Mul(x, 0.0) => Mul(Div(x, Sub(x, x)), 0.0)\n"},
  };
}

/// Rules that are wrong where the matcher cannot compute what Z3 can: on dims without a number, past 64 bits.
/// Examples do not see that: such dims and numbers are too rare in them.
inline std::vector<UnsoundRule> unknown_rules() {
  return {
      {"ParityOfNoDim",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if x.0 >= 50 and not (x.7 odd or x.0 < 50) then "
       "range(len(p)) else p}(x))\n"},
      {"PastSixtyFourBits",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if x.0 >= 50 and not (x.0 * 9223372036854775807 > 0 or x.0 "
       "< 50) then range(len(p)) else p}(x))\n"},
      {"SumPastSixtyFourBits",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if x.0 >= 50 and not (x.0 + 9223372036854775800 > 0 or x.0 "
       "< 50) then range(len(p)) else p}(x))\n"},
      {"RangeTooLong",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if x.0 >= 50 and not (len(range(70000)) == 70000 or x.0 < "
       "50) then range(len(p)) else p}(x))\n"},
      {"DimWithoutANumber",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if rank(x) == 3 and x.0 == x.2 and not (x.0 > 0 or x.0 < 1) "
       "then range(len(p)) else p}(x))\n"},
      {"ParityOfADimWithoutANumber",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if not (x.0 odd) and not (x.0 even) then range(len(p)) else "
       "p}(x))\n"},
      {"EqualDimsOfTwoNames",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if rank(x) == 3 and x.0 != x.2 and x.0 - x.2 == 0 then "
       "range(len(p)) else p}(x))\n"},
      {"DimThatIsNotSeenInAList",
       "r: Transpose{p}(Neg(x)) => Neg(Transpose{if rank(x) == 3 and not x.0 in [x.1, x.2] and x.0 - x.2 == "
       "0 then range(len(p)) else p}(x))\n"},
  };
}

}
