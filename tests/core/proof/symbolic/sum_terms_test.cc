#include "core/proof/symbolic/sum_terms.h"

#include <gtest/gtest.h>

namespace regraft::proof {
namespace {

class SumTermsTest : public ::testing::Test {
 protected:
  using Form = Written::Form;

  WrittenRef x(const z3::expr& place) { return Written::atom("x", {place}, {}); }
  WrittenRef both(Form form, const WrittenRef& a, const WrittenRef& b) {
    return Written::of(form, {}, {a, b});
  }
  WrittenRef sum(const WrittenRef& body) { return Written::of(Form::sum, {k, n}, {body}); }

  z3::context written, context;
  z3::expr i = written.int_const("i"), k = written.int_const("k"), n = written.int_const("n");
  std::vector<Law> laws;
  SumTerms terms{context, laws};
};

TEST_F(SumTermsTest, ProductsOfSumsAreMultipliedOutEachWithVariablesOfItsOwn) {
  const WrittenRef two = Written::number(2, 3);
  const WrittenRef squared =
      both(Form::multiply, sum(both(Form::multiply, two, x(k))), sum(both(Form::add, x(k), two)));
  const auto pieces = terms.pieces(squared, {});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].numerator, 2);
  EXPECT_EQ(pieces[0].denominator, 3);
  EXPECT_EQ(pieces[1].numerator, 4);
  EXPECT_EQ(pieces[1].denominator, 9);
  ASSERT_EQ(pieces[0].bounds.size(), 2u);
  EXPECT_FALSE(z3::eq(pieces[0].bounds[0], pieces[0].bounds[1]));
  EXPECT_EQ(pieces[0].guards.size(), 2u);
  EXPECT_EQ(pieces[0].factors.size(), 2u);
  EXPECT_EQ(pieces[1].factors.size(), 1u);
}

TEST_F(SumTermsTest, AValueIsOneTermWhereverItIsMet) {
  const WrittenRef value = both(Form::add, sum(x(k)), x(i));
  EXPECT_TRUE(z3::eq(terms.value(value, {}), terms.value(value, {})));
  ASSERT_EQ(terms.sums().size(), 1u);
  EXPECT_EQ(terms.sums()[0].second.to_string().find("(sum k0 "), 0u) << terms.sums()[0].second;
  EXPECT_TRUE(terms.has_sum(value));
  EXPECT_FALSE(terms.has_sum(x(i)));
  EXPECT_TRUE(laws.empty());
}

TEST_F(SumTermsTest, ReluOfReluIsALaw) {
  const WrittenRef once = Written::atom("Relu", {}, {x(i)}), twice = Written::atom("Relu", {}, {once});
  const z3::expr inner = terms.value(once, {});
  ASSERT_TRUE(laws.empty());
  const z3::expr outer = terms.value(twice, {});
  ASSERT_EQ(laws.size(), 1u);
  EXPECT_TRUE(z3::eq(laws[0].claim, outer == inner));
}

TEST_F(SumTermsTest, ACoefficientThatDoesNotFitIsAnError) {
  const WrittenRef large = Written::number(INT64_MAX, 1);
  EXPECT_THROW(terms.pieces(both(Form::multiply, large, large), {}), std::overflow_error);
}

}  // namespace
}
