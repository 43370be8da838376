// Arithmetic of ops that rewrites leave alone, against figures worked out by hand.
#include "core/graph/opaque_work.h"

#include <gtest/gtest.h>

#include <set>

#include "core/graph/op.h"
#include "core/graph/op_counts.h"

namespace regraft::graph {
namespace {

using Shapes = std::vector<std::vector<Dim>>;

/// An opaque operation on tensors of these dims.
Signature signature_of(Tables& tables, const std::string& op, const Shapes& inputs,
                       const std::vector<Dim>& output, AttrBlock attrs = {}) {
  attrs.set(Attr::op_type, op);
  Signature signature{OpKind::opaque, tables.intern(attrs), {}, {}, {}};
  signature.outputs.push_back(tables.intern(DType::float32, output));
  for (const auto& dims : inputs) {
    signature.inputs.push_back(tables.intern(DType::float32, dims));
    signature.constant.push_back(0);
  }
  return signature;
}

std::int64_t flops(const std::string& op, const Shapes& inputs, const std::vector<Dim>& output,
                   const AttrBlock& attrs = {}) {
  Tables tables;
  return opaque_flops(tables, signature_of(tables, op, inputs, output, attrs), Bindings());
}

std::int64_t einsum(const std::string& equation, const Shapes& inputs) {
  return flops("Einsum", inputs, {}, {{Attr::equation, equation}});
}

TEST(OpaqueWork, EachOpHasOneRow) {
  std::set<std::string_view> names;
  for (const OpaqueOp& op : opaque_ops()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_EQ(opaque_op(op.name), &op);
  }
  EXPECT_EQ(opaque_op("Invented"), nullptr);
}

// Gate elements, each of as many multiply-adds as there are inputs and hidden values, and of 11 flops beside.
TEST(OpaqueWork, RecurrencesMultiplyInputsAndHiddenValuesInEachStep) {
  // 5 steps of 2 sequences, 4 gates of 4: 160 gate elements of 3 + 4
  EXPECT_EQ(flops("LSTM", {{5, 2, 3}, {1, 16, 3}, {1, 16, 4}}, {5, 1, 2, 4}), 160 * (2 * 7 + 11));
  // 7 steps, both directions, 3 gates of 4: 168 of 8 + 4
  EXPECT_EQ(flops("GRU", {{7, 1, 8}, {2, 12, 8}, {2, 12, 4}}, {7, 2, 1, 4}), 168 * (2 * 12 + 11));
  // 3 steps of 2 sequences, 5 hidden: 30 of 2 + 5
  EXPECT_EQ(flops("RNN", {{3, 2, 2}, {1, 5, 2}, {1, 5, 5}}, {3, 1, 2, 5}), 30 * (2 * 7 + 11));
  EXPECT_EQ(flops("com.microsoft.DynamicQuantizeLSTM", {{5, 2, 3}, {1, 3, 16}, {1, 4, 16}}, {5, 1, 2, 4}),
            160 * (2 * 7 + 11))
      << "whose weights are transposed";
  EXPECT_EQ(flops("LSTM", {{5, 2}, {1, 16, 3}, {1, 16, 4}}, {5, 1, 2, 4}), 0) << "not known to have 3 dims";
}

TEST(OpaqueWork, AnEinsumIsTheProductsOfItsEquation) {
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 3}, {3, 4}}), 2 * 2 * 3 * 4);
  EXPECT_EQ(einsum("bhid, bhjd -> bhij", {{2, 3, 5, 4}, {2, 3, 7, 4}}), 2 * 2 * 3 * 5 * 7 * 4);
  EXPECT_EQ(einsum("...ij,...jk", {{2, 5, 3}, {2, 3, 4}}), 2 * 2 * 5 * 3 * 4);
  EXPECT_EQ(einsum("...ij,jk->...ik", {{6, 2, 5, 3}, {3, 4}}), 2 * 6 * 2 * 5 * 3 * 4);
  EXPECT_EQ(einsum("i,i->", {{6}, {6}}), 2 * 6);
  EXPECT_EQ(einsum("i,j->ij", {{3}, {4}}), 2 * 3 * 4);
  EXPECT_EQ(einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}), 2 * (2 * 3 * 4) + 2 * (2 * 4 * 5));
  EXPECT_EQ(einsum("ijs,jk->ik", {{2, 3, 9}, {3, 4}}), 2 * 2 * 3 * 4) << "s is summed before";
  EXPECT_EQ(einsum("ij->ji", {{2, 3}}), 0) << "moves only";
}

TEST(OpaqueWork, AnEinsumIsMadeOfBatchesOfProducts) {
  const std::vector<Ints> dims{{2, 8, 5, 64}, {2, 8, 7, 64}};
  EXPECT_EQ(einsum_products("bhid,bhjd->bhij", dims), (std::vector<MatrixProduct>{{16, 5, 64, 7}}));
}

TEST(OpaqueWork, AnEquationOfTwoOperandsIsTheirLabelsAsNumbers) {
  const auto labels = [](const char* equation, const Dims& a, const Dims& b) {
    return einsum_labels(equation, a, b).value_or(Ints{});
  };
  EXPECT_EQ(labels("bhid, bhjd -> bhij", {2, 3, 5, 4}, {2, 3, 7, 4}),
            (Ints{0, 1, 2, 3, 0, 1, 4, 3, 0, 1, 2, 4}));
  EXPECT_EQ(labels("...ij,jk->...ik", {6, 2, 5, 3}, {3, 4}), (Ints{0, 1, 2, 3, 3, 4, 0, 1, 2, 4}));
  EXPECT_EQ(labels("ij,jk", {2, 3}, {3, 4}), (Ints{0, 1, 1, 2, 0, 2}));
  EXPECT_EQ(labels(",i->i", {}, {3}), (Ints{0, 0}));
  EXPECT_EQ(einsum_equation({0, 1, 2, 2, 3, 0, 3, 1}, 3, 2), "abc,cd->adb");
  EXPECT_EQ(einsum_equation({0, 0}, 1, 1), "a,a->");
  struct Refused {
    const char *equation, *why;
    Dims a, b;
  };
  for (const Refused& one : {Refused{"iij,jk->ik", "a diagonal", {2, 2, 3}, {3, 4}},
                             Refused{"ij,jk->i", "a sum of one operand", {2, 3}, {3, 4}},
                             Refused{"ij,jk->iik", "a label twice in the output", {2, 3}, {3, 4}},
                             Refused{"ij,jk->ik", "a dim that is repeated", {2, 1}, {3, 4}},
                             Refused{"...ij,...jk", "whose dots are summed", {2, 5, 3}, {2, 3, 4}},
                             Refused{"ij,jk->ik", "another rank", {2, 3, 1}, {3, 4}},
                             Refused{"ij->ji", "one operand", {2, 3}, {3, 4}}})
    EXPECT_EQ(einsum_labels(one.equation, one.a, one.b), std::nullopt) << one.why;
}

TEST(OpaqueWork, AnEquationThatDoesNotFitIsNoWork) {
  for (const char* equation : {"", "ij", "ij,jk,kl->il", "ijk,kl->ijl", "->", ",", "....ij,jk", "ij,jk->ik,"})
    EXPECT_EQ(einsum(equation, {{2, 3}, {3, 4}}), 0) << equation;
  EXPECT_EQ(flops("Einsum", {{2, 3}, {3, 4}}, {2, 4}), 0) << "of no equation";
}

TEST(OpaqueWork, SearchesAndSortsGrowWithTheLogarithm) {
  EXPECT_EQ(flops("TopK", {{4, 1000}, {1}}, {4, 8}), 4000 * 3);
  EXPECT_EQ(flops("TopK", {{4, 1000}, {1}}, {4, 1}), 4000);
  EXPECT_EQ(flops("TopK", {{1024}, {1}}, {1024}), 1024 * 10) << "all of them, sorted";
  EXPECT_EQ(flops("Unique", {{256}}, {256}), 256 * 8);
}

TEST(OpaqueWork, InterpolationsGrowWithTheirTaps) {
  const AttrBlock linear{{Attr::mode, std::string("linear")}}, cubic{{Attr::mode, std::string("cubic")}};
  EXPECT_EQ(flops("Resize", {{1, 3, 8, 8}}, {1, 3, 16, 16}, linear), 768 * 4 * 2);
  EXPECT_EQ(flops("Resize", {{1, 3, 8, 8}}, {1, 3, 16, 16}, cubic), 768 * 16 * 2);
  EXPECT_EQ(flops("Resize", {{1, 3, 8}}, {1, 3, 16}, linear), 48 * 2 * 2);
  EXPECT_EQ(flops("Resize", {{1, 3, 8, 8}}, {1, 3, 16, 16}), 768 * 2) << "nearest, by default";
  EXPECT_EQ(flops("GridSample", {{1, 3, 8, 8}, {1, 8, 8, 2}}, {1, 3, 8, 8}), 192 * 4 * 2);
  EXPECT_EQ(opaque_op("Resize cubic")->work, Work::taps) << "which has a rate of its own";
  EXPECT_EQ(flops("LpPool", {{1, 2, 6, 6}}, {1, 2, 3, 3}, {{Attr::kernel_shape, Ints{2, 2}}}), 18 * 4 * 2);
}

TEST(OpaqueWork, OthersGrowWithTheirElements) {
  EXPECT_EQ(flops("CumSum", {{4, 6}, {}}, {4, 6}), 24);
  EXPECT_EQ(flops("ReduceL2", {{4, 6}}, {4, 1}), 24 * 2);
  EXPECT_EQ(flops("ReduceProd", {{4, 6}}, {4, 1}), 24);
  EXPECT_EQ(flops("ReduceLogSumExp", {{4, 6}}, {4, 1}), 24 * 11);
  EXPECT_EQ(flops("Selu", {{4, 6}}, {4, 6}), 24 * 10);
  EXPECT_EQ(flops("Mish", {{4, 6}}, {4, 6}), 24 * 30);
  EXPECT_EQ(flops("DepthToSpace", {{1, 8, 4, 4}}, {1, 2, 8, 8}), 0) << "moves only";
  EXPECT_EQ(flops("MatMulInteger", {{5, 6}, {6, 7}}, {5, 7}), 2 * 5 * 6 * 7);
  EXPECT_EQ(flops("ConvInteger", {{1, 3, 8, 8}, {4, 3, 3, 3}}, {1, 4, 6, 6}), 2 * 144 * 27);
  EXPECT_EQ(flops("my.domain.LSTM", {{5, 2, 3}, {1, 16, 3}, {1, 16, 4}}, {5, 1, 2, 4}), 0);
}

TEST(OpaqueWork, DimsAreThoseOfTheBindings) {
  Tables tables;
  Bindings bindings;
  const Dim steps = symbol_dim(tables.symbol("steps"));
  bindings.bind(dim_symbol(steps), 5);
  const Signature lstm =
      signature_of(tables, "LSTM", {{steps, 2, 3}, {1, 16, 3}, {1, 16, 4}}, {steps, 1, 2, 4});
  EXPECT_EQ(op_counts(tables, lstm, bindings).flops, 160 * (2 * 7 + 11));
}

TEST(OpaqueWork, SizesOfAnyKindGiveANumber) {
  const Dim huge = std::int64_t{1} << 60;
  EXPECT_EQ(einsum("ij,jk->ik", {{huge, huge}, {huge, huge}}), 9'000'000'000'000'000'000);
  EXPECT_EQ(flops("LSTM", {{0, 1, 3}, {1, 0, 3}, {1, 0, 0}}, {0, 1, 1, 0}), 0);
  EXPECT_EQ(flops("TopK", {{0}, {1}}, {0}), 0);
  EXPECT_EQ(flops("MatMulInteger", {}, {5}), 0);
}

}  // namespace
}
