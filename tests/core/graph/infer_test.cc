#include <gmock/gmock.h>

#include <limits>

#include "core/graph/graph.h"
#include "core/graph/infer.h"
#include "core/graph/op_counts.h"

namespace regraft::graph {
namespace {

using ::testing::HasSubstr;

class Infer : public ::testing::Test {
 protected:
  TypeId type(std::initializer_list<Dim> dims, DType dtype = DType::float32) {
    return tables.intern(dtype, std::span(dims.begin(), dims.size()));
  }
  Dim symbol(const char* name) { return symbol_dim(tables.symbol(name)); }
  WeightId ints(std::initializer_list<std::int64_t> values) {
    return tables.weights().integers(std::span(values.begin(), values.size()));
  }
  Operand operand(TypeId id) { return {id, WeightId::none, true}; }
  Operand constant(WeightId id) { return {tables.weights()[id].type, id, true}; }
  Operand of(std::initializer_list<Dim> dims, DType dtype = DType::float32) {
    return operand(type(dims, dtype));
  }
  Operand values(std::initializer_list<std::int64_t> given) { return constant(ints(given)); }

  /// Canonical form, then inference; described as text, outputs joined by spaces.
  std::string infer(OpKind kind, AttrBlock attrs, std::initializer_list<Operand> given) {
    InlineVector<Operand, 4> operands(std::span(given.begin(), given.size()));
    canonical = canonical_attrs(tables, kind, std::move(attrs), operands);
    operand_count = operands.size();
    std::string text;
    for (const TypeId id : infer_types(tables, kind, canonical, operands))
      text += (text.empty() ? "" : " ") + tables.describe(id);
    return text;
  }
  std::string error(OpKind kind, AttrBlock attrs, std::initializer_list<Operand> given) {
    try {
      return "no error: " + infer(kind, std::move(attrs), given);
    } catch (const GraphError& e) {
      return e.what();
    }
  }

  Tables tables;
  AttrBlock canonical;
  std::size_t operand_count = 0;
};

TEST_F(Infer, BroadcastsNumbersAndSymbols) {
  const Dim n = symbol("n");
  EXPECT_EQ(infer(OpKind::add, {}, {of({n, 1, 4}), of({3, 1})}), "float32[n, 3, 4]");
  EXPECT_EQ(infer(OpKind::mul, {}, {of({}), of({n})}), "float32[n]");
  EXPECT_THAT(error(OpKind::add, {}, {of({3}), of({4})}), HasSubstr("Add: cannot broadcast 3 with 4"));
  EXPECT_THAT(error(OpKind::add, {}, {of({3}), of({3}, DType::int64)}), HasSubstr("mixes"));
}

TEST_F(Infer, MatMulFollowsNumpy) {
  EXPECT_EQ(infer(OpKind::matmul, {}, {of({5, 1, 2, 3}), of({7, 3, 4})}), "float32[5, 7, 2, 4]");
  EXPECT_EQ(infer(OpKind::matmul, {}, {of({3}), of({3, 4})}), "float32[4]");
  EXPECT_EQ(infer(OpKind::matmul, {}, {of({2, 3}), of({3})}), "float32[2]");
  EXPECT_THAT(error(OpKind::matmul, {}, {of({2, 3}), of({4, 2})}), HasSubstr("inner dims differ"));
}

TEST_F(Infer, ASliceNamesNoAxisOfWhichAllIsTaken) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();
  const auto x = of({symbol("batch"), 5, 6});
  EXPECT_EQ(infer(OpKind::slice, {}, {x, values({0, 1, 0}), values({kEnd, 3, 6}), values({0, 1, 2})}),
            "float32[batch, 2, 6]");
  EXPECT_EQ(canonical.ints(Attr::axes), Ints{1});
  EXPECT_EQ(canonical.ints(Attr::starts), Ints{1});
  EXPECT_EQ(canonical.ints(Attr::ends), Ints{3});
  EXPECT_EQ(infer(OpKind::slice, {}, {x, values({0, 0}), values({kEnd, 5}), values({0, 1})}),
            "float32[batch, 5, 6]");
  EXPECT_EQ(canonical.ints(Attr::axes), Ints{1}) << "the last one, where all is taken";
}

TEST_F(Infer, RecurrencesHaveOneDirection) {
  const auto x = of({symbol("steps"), symbol("batch"), 5}), w = of({1, 12, 5}), r = of({1, 12, 3});
  const std::string rows = "float32[steps, 1, batch, 3]", last = " float32[1, batch, 3]";
  EXPECT_EQ(infer(OpKind::lstm, {}, {x, w, r}), rows + last + last);
  EXPECT_EQ(infer(OpKind::gru, {}, {x, of({1, 9, 5}), of({1, 9, 3}), of({1, 18})}), rows + last);
  EXPECT_THAT(error(OpKind::gru, {}, {x, w, r}), HasSubstr("dims of the weights differ: 12 and 9"));
  EXPECT_THAT(error(OpKind::lstm, {}, {x, of({2, 12, 5}), of({2, 12, 3})}),
              HasSubstr("dims of the weights differ: 2 and 1"));
  EXPECT_THAT(error(OpKind::lstm, {}, {x, of({1, 12, 6}), r}), HasSubstr("differ: 6 and 5"));
  EXPECT_THAT(error(OpKind::lstm, {}, {x, w, r, of({1, 12})}), HasSubstr("dims of the bias differ"));
  EXPECT_THAT(error(OpKind::lstm, {}, {x, w, of({1, 12, symbol("hidden")})}),
              HasSubstr("the hidden size is not known"));
  EXPECT_THAT(error(OpKind::lstm, {}, {x, w, r, of({1, 24}), of({2})}), HasSubstr("lengths of sequences"));
  EXPECT_THAT(
      error(OpKind::lstm, {}, {of({4, 2, 5}), w, r, of({1, 24}), Operand{.present = false}, of({1, 1, 3})}),
      HasSubstr("dims of a state differ: 1 and 2"));
}

TEST_F(Infer, EinsumFollowsItsLabels) {
  const AttrBlock products{{Attr::equation, Ints{0, 1, 2, 2, 3, 1, 0, 3}}};
  EXPECT_EQ(infer(OpKind::einsum, products, {of({symbol("batch"), 2, 3}), of({3, 4})}),
            "float32[2, batch, 4]");
  EXPECT_THAT(error(OpKind::einsum, products, {of({5, 2, 3}), of({4, 4})}),
              HasSubstr("dims of one label differ: 3 and 4"));
  EXPECT_THAT(error(OpKind::einsum, {{Attr::equation, Ints{0, 0, 1}}}, {of({5}), of({5})}),
              HasSubstr("no operand has a label of the output"));
  for (const std::int64_t label : {-1, 3, 26})
    EXPECT_THAT(error(OpKind::einsum, {{Attr::equation, Ints{0, label, label}}}, {of({5}), of({5})}),
                HasSubstr("a label is no letter"));
  EXPECT_THAT(error(OpKind::einsum, {{Attr::equation, Ints{0}}}, {of({5}), of({5})}),
              HasSubstr("does not fit the operands"));
}

TEST_F(Infer, ConvGetsDefaultsAndChecksChannels) {
  EXPECT_EQ(infer(OpKind::conv, {{Attr::strides, Ints{2, 2}}, {Attr::pads, Ints{3, 3, 3, 3}}},
                  {of({symbol("batch"), 3, 224, 224}), of({64, 3, 7, 7})}),
            "float32[batch, 64, 112, 112]");
  EXPECT_EQ(canonical.ints(Attr::kernel_shape), (Ints{7, 7}));
  EXPECT_EQ(canonical.ints(Attr::dilations), (Ints{1, 1}));
  EXPECT_EQ(canonical.integer(Attr::group), 1);
  EXPECT_THAT(error(OpKind::conv, {}, {of({1, 4, 8, 8}), of({2, 3, 1, 1})}),
              HasSubstr("channels of input and weight differ: 4 and 3"));
  EXPECT_THAT(error(OpKind::conv, {{Attr::axis, std::int64_t{1}}}, {of({1, 3, 8, 8}), of({2, 3, 1, 1})}),
              HasSubstr("takes no attribute axis"));
}

TEST_F(Infer, ConstantOperandsBecomeAttributes) {
  EXPECT_EQ(infer(OpKind::reshape, {}, {of({2, 3, 4}), values({0, -1})}), "float32[2, 12]");
  EXPECT_EQ(canonical.ints(Attr::shape), (Ints{2, 12}));
  EXPECT_EQ(operand_count, 1u);
  EXPECT_EQ(infer(OpKind::unsqueeze, {}, {of({2}), values({-1})}), "float32[2, 1]");
  EXPECT_EQ(infer(OpKind::slice, {}, {of({10, 4}), values({-3}), values({1000}), values({0})}),
            "float32[3, 4]");
  EXPECT_EQ(canonical.ints(Attr::starts), (Ints{7}));
  EXPECT_EQ(canonical.ints(Attr::ends), (Ints{10}));
}

TEST_F(Infer, OperandsKnownOnlyAtRunTimeStay) {
  EXPECT_EQ(infer(OpKind::reshape, {}, {of({2, 3}), of({2}, DType::int64)}), "float32[?0, ?1]");
  EXPECT_EQ(operand_count, 2u);
  EXPECT_EQ(infer(OpKind::reshape, {}, {of({2, 3}), of({symbol("n")}, DType::int64)}), "float32[...]");
}

// Steps of an unrolled network, each broadcast with the first one.
TEST_F(Infer, WhatIsBroadcastTwiceCountsOnce) {
  const Dim a = symbol("a"), b = symbol("b"), c = symbol("c");
  const Dim both = broadcast_dim(tables, op_info(OpKind::add), b, a);
  EXPECT_EQ(broadcast_dim(tables, op_info(OpKind::add), both, a), both);
  const Dim all = broadcast_dim(tables, op_info(OpKind::add), c, both);
  EXPECT_EQ(tables.symbol_name(dim_symbol(all)), "bcast(a,bcast(b,c))");
  EXPECT_EQ(broadcast_dim(tables, op_info(OpKind::add), both, all), all);
}

TEST_F(Infer, FormulasDoNotGrowForEver) {
  Dim sum = symbol("n");
  for (int step = 0; step < 64; ++step) sum = add_dims(tables, op_info(OpKind::concat), sum, sum);
  EXPECT_LE(tables.symbol_name(dim_symbol(sum)).size(), 512u);
}

TEST_F(Infer, ReshapeKeepsSymbolsWhereTheyCancel) {
  const Dim n = symbol("n");
  EXPECT_EQ(infer(OpKind::reshape, {}, {of({n, 512, 1, 1}), values({0, -1})}), "float32[n, 512]");
  EXPECT_EQ(infer(OpKind::reshape, {}, {of({n, 6}), values({-1, 3})}), "float32[(2*n), 3]");
  EXPECT_THAT(error(OpKind::reshape, {}, {of({2, 3}), values({4, 2})}), HasSubstr("6 elements into 8"));
  EXPECT_THAT(error(OpKind::reshape, {}, {of({2, 3}), values({4, -1})}), HasSubstr("cannot divide 6"));
}

TEST_F(Infer, MovementOps) {
  EXPECT_EQ(infer(OpKind::transpose, {}, {of({2, 3, 4})}), "float32[4, 3, 2]");
  EXPECT_EQ(infer(OpKind::split, {{Attr::axis, std::int64_t{-1}}, {Attr::split, Ints{1, 3}}}, {of({2, 4})}),
            "float32[2, 1] float32[2, 3]");
  EXPECT_EQ(infer(OpKind::concat, {{Attr::axis, std::int64_t{1}}}, {of({2, 3}), of({2, 4})}),
            "float32[2, 7]");
  EXPECT_EQ(infer(OpKind::gather, {}, {of({9, 4}), of({}, DType::int64)}), "float32[4]");
  EXPECT_EQ(infer(OpKind::pad, {{Attr::pads, Ints{1, 2}}, {Attr::axes, Ints{-1}}}, {of({2, 3})}),
            "float32[2, 6]");
  EXPECT_EQ(infer(OpKind::flatten, {}, {of({2, 3, 4})}), "float32[2, 12]");
  EXPECT_THAT(error(OpKind::split, {{Attr::split, Ints{1, 3}}}, {of({5})}), HasSubstr("add up to 4, not 5"));
  EXPECT_THAT(error(OpKind::transpose, {{Attr::perm, Ints{0, 0}}}, {of({2, 3})}),
              HasSubstr("no permutation"));
}

TEST_F(Infer, SizesThatDoNotFit64BitsAreRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(),
                         kLeast = std::numeric_limits<std::int64_t>::min();
  const auto refused = HasSubstr("64 bits");
  for (const std::int64_t extra : {kMost, kLeast})
    EXPECT_THAT(error(OpKind::pad, {{Attr::pads, Ints{extra, extra}}}, {of({3})}), refused);
  EXPECT_THAT(error(OpKind::pad, {{Attr::pads, Ints{0, kMost}}}, {of({3})}), refused);
  EXPECT_THAT(error(OpKind::concat, {{Attr::axis, std::int64_t{0}}}, {of({kMost}), of({kMost})}), refused);
  EXPECT_THAT(error(OpKind::split, {{Attr::split, Ints{kMost, kMost}}}, {of({5})}), refused);
  const AttrBlock wide{{Attr::kernel_shape, Ints{kMost}},
                       {Attr::strides, Ints{kMost}},
                       {Attr::dilations, Ints{kMost}},
                       {Attr::pads, Ints{kMost, kMost}}};
  EXPECT_THAT(error(OpKind::max_pool, wide, {of({1, 1, 8})}), HasSubstr("larger than"));
  EXPECT_THAT(error(OpKind::max_pool, wide, {of({1, 1, symbol("n")})}), refused);
  EXPECT_THAT(error(OpKind::conv_transpose, wide, {of({1, 1, 8}), of({1, 1, kMost})}), refused);
  const AttrBlock cut{{Attr::kernel_shape, Ints{3}},
                      {Attr::strides, Ints{1}},
                      {Attr::dilations, Ints{1}},
                      {Attr::pads, Ints{2, 2}}};
  EXPECT_THAT(error(OpKind::conv_transpose, cut, {of({1, 1, 1}), of({1, 1, 3})}),
              HasSubstr("pads take more than there is"));
  EXPECT_EQ(
      infer(OpKind::slice,
            {{Attr::starts, Ints{kLeast}}, {Attr::ends, Ints{kMost}}, {Attr::steps, Ints{kMost}}}, {of({5})}),
      "float32[1]");
}

TEST_F(Infer, PoolingWithCeilModeDropsWindowsThatStartInPadding) {
  const AttrBlock attrs{
      {Attr::kernel_shape, Ints{3, 3}}, {Attr::strides, Ints{2, 2}}, {Attr::ceil_mode, std::int64_t{1}}};
  EXPECT_EQ(infer(OpKind::max_pool, attrs, {of({1, 8, 6, 7})}), "float32[1, 8, 3, 3]");
}

TEST_F(Infer, ReduceOverAllAxesByDefault) {
  EXPECT_EQ(infer(OpKind::reduce_mean, {{Attr::keepdims, std::int64_t{0}}}, {of({2, 3})}), "float32[]");
  EXPECT_EQ(infer(OpKind::reduce_mean, {{Attr::axes, Ints{-1}}}, {of({2, 3})}), "float32[2, 1]");
}

TEST_F(Infer, AttentionHasTheQueriesRowsAndTheValuesColumns) {
  const AttrBlock attrs{{Attr::num_heads, std::int64_t{4}}, {Attr::scale, 0.5}};
  const Dim n = symbol("n");
  const Operand q = of({n, 3, 8}), k = of({n, 5, 8}), v = of({n, 5, 12}),
                none{tables.type_none(), WeightId::none, false};
  const auto kind = OpKind::multi_head_attention;
  EXPECT_EQ(infer(kind, attrs, {q, k, v}), "float32[n, 3, 12]");
  EXPECT_EQ(infer(kind, attrs, {q, k, v, none, none, of({1, 4, 3, 5})}), "float32[n, 3, 12]");
  EXPECT_THAT(error(kind, attrs, {q, k, v, none, none, of({1, 1, 1, 5})}), HasSubstr("scores"));
  EXPECT_THAT(error(kind, attrs, {q, k, v, of({27})}), HasSubstr("the bias does not fit"));
  EXPECT_EQ(infer(kind, attrs, {q, k, v, of({28})}), "float32[n, 3, 12]");
  EXPECT_THAT(error(kind, attrs, {q, k, v, none, of({2, 5}, DType::int32)}), HasSubstr("mask"));
  EXPECT_THAT(error(kind, attrs, {q, k, of({n, 6, 8})}), HasSubstr("keys and values"));
  EXPECT_THAT(error(kind, {{Attr::num_heads, std::int64_t{3}}, {Attr::scale, 0.5}}, {q, k, v}),
              HasSubstr("3 heads do not divide 8"));
  EXPECT_THAT(error(kind, {{Attr::num_heads, std::int64_t{4}}, {Attr::scale, 0.0}}, {q, k, v}),
              HasSubstr("scale of 0"));
}

TEST_F(Infer, ResizeEnlargesDimsOfOneAlone) {
  const Dim n = symbol("n");
  EXPECT_EQ(infer(OpKind::resize, {{Attr::shape, Ints{4, 7}}}, {of({n, 3, 1, 7})}), "float32[n, 3, 4, 7]");
  EXPECT_THAT(error(OpKind::resize, {{Attr::shape, Ints{4, 7}}}, {of({1, 3, 2, 7})}),
              HasSubstr("only dims of one"));
  EXPECT_THAT(error(OpKind::resize, {{Attr::shape, Ints{4}}}, {of({1, 3, 1, 1})}), HasSubstr("fit the rank"));
}

TEST_F(Infer, DequantizeLinearHasTheTypeOfItsScales) {
  const Dim n = symbol("n");
  const auto kind = OpKind::dequantize_linear;
  const Operand x = of({n, 3, 4}, DType::uint8), one = of({}), three = of({3});
  EXPECT_EQ(infer(kind, {}, {x, one, of({}, DType::uint8)}), "float32[n, 3, 4]");
  EXPECT_EQ(canonical.integer(Attr::axis), 0) << "an axis says nothing where there is one scale";
  EXPECT_EQ(infer(kind, {}, {x, of({3}, DType::float16)}), "float16[n, 3, 4]");
  EXPECT_EQ(infer(kind, {{Attr::axis, std::int64_t{-2}}}, {x, three}), "float32[n, 3, 4]");
  EXPECT_EQ(canonical.integer(Attr::axis), 1);
  EXPECT_EQ(infer(kind, {}, {of({7}, DType::int32), of({1})}), "float32[7]");
  EXPECT_THAT(error(kind, {{Attr::axis, std::int64_t{2}}}, {x, three}), HasSubstr("do not fit the axis"));
  EXPECT_THAT(error(kind, {}, {x, one, of({}, DType::int8)}), HasSubstr("mixes"));
  EXPECT_THAT(error(kind, {}, {x, three, of({}, DType::uint8)}), HasSubstr("differ in number"));
  EXPECT_THAT(error(kind, {}, {of({n}, DType::uint16), one}), HasSubstr("uint16"));
  EXPECT_THAT(error(kind, {}, {x, of({3, 4})}), HasSubstr("neither a number nor"));
}

TEST_F(Infer, QuantizeLinearHasTheTypeOfItsZeroPoint) {
  const Dim n = symbol("n");
  const auto kind = OpKind::quantize_linear;
  const Operand x = of({n, 3}), one = of({});
  EXPECT_EQ(infer(kind, {}, {x, one}), "uint8[n, 3]");
  EXPECT_EQ(infer(kind, {}, {x, one, of({}, DType::int8)}), "int8[n, 3]");
  EXPECT_EQ(canonical.integer(Attr::to), static_cast<std::int64_t>(DType::int8));
  EXPECT_THAT(error(kind, {}, {x, one, of({}, DType::int16)}), HasSubstr("int16"));
  EXPECT_THAT(error(kind, {}, {of({n}, DType::int32), one}), HasSubstr("mixes"));
}

TEST_F(Infer, EveryRowOfTheOpTableStandsAtItsKind) {
  for (std::size_t i = 0; i < kOpKinds; ++i) {
    const OpInfo& op = op_info(static_cast<OpKind>(i));
    EXPECT_EQ(static_cast<std::size_t>(op.kind), i) << op.name;
    if (op.infer) {
      EXPECT_EQ(op_from_name(op.name), op.kind);
    }
  }
}

TEST_F(Infer, CountsOfAttentionAreThoseOfItsProductsAndItsSoftmax) {
  Graph graph(tables);
  const Value q{graph.add_input(type({2, 3, 8}), 0), 0}, k{graph.add_input(type({2, 5, 8}), 1), 0},
      v{graph.add_input(type({2, 5, 12}), 2), 0};
  const AttrBlock attrs{{Attr::num_heads, std::int64_t{4}}, {Attr::scale, 0.5}};
  const NodeId node = graph.add(OpKind::multi_head_attention, tables.intern(attrs), std::array{q, k, v});
  const OpCounts counts = op_counts(tables, tables.signature(graph.node(node).signature), {});
  const std::int64_t scores = 2 * 4 * 3 * 5, softmax = 12 * scores, scaling = scores;
  EXPECT_EQ(counts.flops, 2 * 2 * 3 * 5 * (8 + 12) + softmax + scaling);
}

TEST_F(Infer, CountsMultiplyAddsAsTwo) {
  Graph graph(tables);
  const Value x{graph.add_input(type({symbol("n"), 8, 16}), 0), 0};
  const Value w{graph.add_input(type({16, 32}), 1), 0};
  const NodeId product = graph.add(OpKind::matmul, tables.intern(AttrBlock{}), std::array{x, w});
  Bindings bindings;
  bindings.bind(tables.symbol("n"), 3);
  const OpCounts counts = op_counts(tables, tables.signature(graph.node(product).signature), bindings);
  EXPECT_EQ(counts.flops, 2 * 3 * 8 * 16 * 32);
  EXPECT_EQ(counts.write_bytes, 4 * 3 * 8 * 32);
}

}  // namespace
}
