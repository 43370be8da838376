#include "core/graph/derived_dims.h"

#include <gtest/gtest.h>

namespace regraft::graph {
namespace {

class DerivedDims : public ::testing::Test {
 protected:
  Dim symbol(const std::string& name) { return symbol_dim(tables.symbol(name)); }
  std::string text(Dim dim) { return dim_text(tables, dim); }
  const OpInfo& op = op_info(OpKind::reshape);
  Tables tables;
};

TEST_F(DerivedDims, ProductsOfProductsAreOneProduct) {
  const Dim b = symbol("b"), s = symbol("s");
  const Dim heads = product_dim(tables, Dims{b, 12});
  EXPECT_EQ(text(heads), "(12*b)");
  EXPECT_EQ(product_dim(tables, Dims{heads, s, 2}), product_dim(tables, Dims{s, 24, b}));
  EXPECT_EQ(quotient_dim(tables, op, Dims{heads, s, 64}, Dims{12, s, 64}), b);
  EXPECT_EQ(quotient_dim(tables, op, Dims{heads}, Dims{b}), 12);
}

TEST_F(DerivedDims, OtherFormulasAndOddNamesAreFactorsAsTheyStand) {
  for (const char* name :
       {"(n+1)", "((n+1)*2/3)", "a*b", "2", "(", ")", "(a", "()", "(3)", "(n)(m)", "bcast(2*n,3)"}) {
    const Dim dim = symbol(name);
    EXPECT_EQ(text(product_dim(tables, Dims{dim, 2})), "(2*" + std::string(name) + ")") << name;
    EXPECT_EQ(quotient_dim(tables, op, Dims{dim, 6}, Dims{6}), dim) << name;
  }
}

TEST_F(DerivedDims, AWholeSliceIsTheDim) {
  const Dim n = symbol("n");
  const auto number = Element::number;
  EXPECT_EQ(slice_dim(tables, n, number(0), Element::of(n), 1), n);
  EXPECT_EQ(slice_dim(tables, n, number(0), number(std::numeric_limits<std::int64_t>::max()), 1), n);
  EXPECT_EQ(text(slice_dim(tables, n, number(0), number(9), 1)), "slice(n,0,9,1)");
  EXPECT_EQ(text(slice_dim(tables, n, number(0), Element::of(n), 2)), "slice(n,0,n,2)");
}

TEST_F(DerivedDims, AReshapeCopiesSymbolsThatStay) {
  const Dim b = symbol("b"), s = symbol("s");
  const auto target = [&](const Dims& from, const Dims& to) { return reshape_target(from, to); };
  EXPECT_EQ(target({b, s, 768}, {b, s, 12, 64}), (Ints{0, 0, 12, 64}));
  EXPECT_EQ(target({b, 12, 64}, {b, 768}), (Ints{0, 768}));
  EXPECT_EQ(target({12, b}, {b, 12}), std::nullopt) << "where b is 0, a computed [b, -1] is [12, 0]";
  EXPECT_EQ(target({b, s, 4}, {s, b, 4}), std::nullopt) << "two that move";
  EXPECT_EQ(target({b, s, 4}, {b, product_dim(tables, Dims{s, 4})}), std::nullopt) << "the second is another";
  EXPECT_EQ(target({b, 0}, {b, 0}), std::nullopt) << "0 would copy";
}

TEST_F(DerivedDims, AnExpandKeepsSymbolsByOne) {
  const Dim b = symbol("b");
  const auto target = [&](const Dims& from, const Dims& to) { return expand_target(from, to); };
  EXPECT_EQ(target({b, 1}, {b, 4}), (Ints{1, 4}));
  EXPECT_EQ(target({b, 1}, {3, b, 4}), (Ints{3, 1, 4}));
  EXPECT_EQ(target({1, 4}, {b, 4}), std::nullopt) << "a size of the run";
  EXPECT_EQ(target({4}, {b, 4}), std::nullopt);
}

}  // namespace
}
