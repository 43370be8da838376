#include "core/exec/site/dim_values.h"

#include <gtest/gtest.h>

#include "core/exec/runtime/exec_error.h"
#include "core/graph/op.h"

namespace regraft::exec {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Dim;
using graph::DType;
using graph::OpKind;

class DimValuesTest : public ::testing::Test {
 protected:
  DimValuesTest() {
    n_ = graph::symbol_dim(tables_.symbol("n"));
    h_ = graph::symbol_dim(tables_.symbol("h"));
    bindings_.bind(tables_.symbol("n"), 5);
  }

  /// The sizes that inference gives an op, at n = 5 and h = 9.
  std::vector<std::int64_t> sizes(OpKind kind, AttrBlock attrs, const std::vector<std::vector<Dim>>& inputs) {
    InlineVector<graph::Operand, 4> operands;
    for (const auto& dims : inputs) operands.push_back({tables_.intern(DType::float32, dims)});
    attrs = graph::canonical_attrs(tables_, kind, attrs, operands);
    const graph::TypeList types = graph::infer_types(tables_, kind, attrs, operands);
    return DimValues(tables_, bindings_, 9).sizes(tables_.type(types[0]));
  }

  graph::Tables tables_;
  graph::Bindings bindings_;
  Dim n_ = 0, h_ = 0;
};

using Sizes = std::vector<std::int64_t>;

TEST_F(DimValuesTest, FollowTheFormulasOfInference) {
  EXPECT_EQ(sizes(OpKind::relu, {}, {{n_, h_, 4}}), (Sizes{5, 9, 4}));
  EXPECT_EQ(sizes(OpKind::flatten, {{Attr::axis, std::int64_t{2}}}, {{n_, 2, 3, h_}}), (Sizes{10, 27}));
  EXPECT_EQ(sizes(OpKind::concat, {{Attr::axis, std::int64_t{0}}}, {{n_, 2}, {h_, 2}, {3, 2}}),
            (Sizes{17, 2}));
  EXPECT_EQ(sizes(OpKind::reshape, {{Attr::shape, graph::Ints{-1, 4}}}, {{n_, 8}}), (Sizes{10, 4}));
  EXPECT_EQ(sizes(OpKind::pad, {{Attr::pads, graph::Ints{1, -2}}}, {{h_}}), (Sizes{8}));
  EXPECT_EQ(sizes(OpKind::tile, {{Attr::repeats, graph::Ints{3}}}, {{h_}}), (Sizes{27}));
}

TEST_F(DimValuesTest, FollowWindowsRoundedDownAndUp) {
  AttrBlock attrs{{Attr::kernel_shape, graph::Ints{2}}, {Attr::strides, graph::Ints{2}}};
  EXPECT_EQ(sizes(OpKind::max_pool, attrs, {{n_, 3, h_}}), (Sizes{5, 3, 4}));
  attrs.set(Attr::ceil_mode, std::int64_t{1});
  EXPECT_EQ(sizes(OpKind::max_pool, attrs, {{n_, 3, h_}}), (Sizes{5, 3, 5}));
}

TEST_F(DimValuesTest, FollowSlicesThatCountFromTheEnd) {
  const AttrBlock attrs{{Attr::starts, graph::Ints{1}},
                        {Attr::ends, graph::Ints{-1}},
                        {Attr::axes, graph::Ints{0}},
                        {Attr::steps, graph::Ints{2}}};
  EXPECT_EQ(sizes(OpKind::slice, attrs, {{h_}}), (Sizes{4}));
}

TEST_F(DimValuesTest, TakeAnOddNameForASymbol) {
  const Dim odd = graph::symbol_dim(tables_.symbol("past (tokens) + 1"));
  EXPECT_EQ(DimValues(tables_, bindings_, 9).value(odd), 9);
  EXPECT_THROW(DimValues(tables_, bindings_, 9).sizes({DType::float32, false, {}}), ExecError);
}

}  // namespace
}
