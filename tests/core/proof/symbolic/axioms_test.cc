// What the prover takes for granted, its definitions of the operations, by enumeration: each is followed once
// with all dims and integer attributes unknown, and what comes out, in normal form and as it is written (for
// whole equalities), is compared with exact evaluation for all sizes up to a bound (4 unless it says so), at
// every element, at random points of a field of 2^61 - 1 elements. Functions that are not rational are random
// oracles; else all are rational functions of the elements of the operands, of a degree below 2^16, so that
// two that differ agree at a point with a chance below 2^-45. And types: where sizes make a graph, and only
// there, the definition has a case.
#include <gtest/gtest.h>

#include "core/proof/symbolic/axiom_cases.h"

namespace regraft::proof::testing {
namespace {

class AxiomOf : public ::testing::TestWithParam<AxiomCase> {};

TEST_P(AxiomOf, IsExactForAllSmallShapes) {
  Axiom::Counts counts;
  bool more = true;
  for (std::size_t n = 0; more && counts.problem.empty(); ++n) {
    Axiom axiom(GetParam().kind, n + 1);
    more = GetParam().make(axiom, n);
    SCOPED_TRACE("variant " + std::to_string(n));
    counts += axiom.enumerate();
    ASSERT_EQ(counts.problem, "");
  }
  EXPECT_GE(counts.elements, GetParam().least_elements);
  RecordProperty("shapes", static_cast<int>(counts.shapes));
  RecordProperty("elements", static_cast<int>(counts.elements));
}

INSTANTIATE_TEST_SUITE_P(Each, AxiomOf, ::testing::ValuesIn(axiom_cases()),
                         [](const auto& row) { return row.param.name; });

// An enumeration that compares nothing would agree with everything.
TEST(Axiom, OfAnotherOperationIsFoundOut) {
  for (const OpKind other : {OpKind::add, OpKind::mul, OpKind::div}) {
    Axiom axiom(OpKind::sub, 1);
    binary(axiom, 5);
    axiom.compare_with(other);
    EXPECT_NE(axiom.enumerate().problem, "");
  }
  Axiom axiom(OpKind::reduce_mean, 1);
  axiom.operand(1, kMost);
  axiom.attribute(Attr::axes, Index{axiom.number(0)});
  axiom.attribute(Attr::keepdims, axiom.number(1));
  axiom.compare_with(OpKind::reduce_sum);
  EXPECT_EQ(axiom.enumerate().problem, "ReduceMean has another value: 2");
}

std::string problem_of_sum(std::function<WrittenRef(const WrittenRef&)> rewrite) {
  Axiom axiom(OpKind::reduce_sum, 1);
  axiom.operand(1, kMost);
  axiom.attribute(Attr::axes, Index{axiom.number(0)});
  axiom.attribute(Attr::keepdims, axiom.number(1));
  axiom.write_as(std::move(rewrite));
  return axiom.enumerate().problem;
}

// The written value is compared by itself: the normal form beside it is right.
TEST(Axiom, WrittenOtherwiseIsFoundOut) {
  using Form = Written::Form;
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) { return sum; }), "");
  EXPECT_EQ(problem_of_sum([](const WrittenRef&) { return nullptr; }), "ReduceSum has no written value: 1");
  const auto found = [](const std::string& sizes) {
    return "ReduceSum is written with another value: " + sizes;
  };
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) { return Written::of(Form::negate, {}, {sum}); }),
            found("1"));
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) {
              return Written::of(Form::add, {}, {sum, sum});
            }),
            found("1"));
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) {
              return Written::of(Form::multiply, {}, {sum, sum});
            }),
            found("1"));
  // Not all of the sum, at sizes above 2.
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) {
              const z3::expr& k = sum->index.at(0);
              return Written::of(Form::sum, sum->index,
                                 {Written::of(Form::guarded, {k < 2}, {sum->args.at(0)})});
            }),
            found("3"));
  EXPECT_EQ(problem_of_sum([](const WrittenRef& sum) {
              return Written::of(Form::sum, {sum->index.at(0), sum->index.at(1) - 1}, sum->args);
            }),
            found("1"));
}

}  // namespace
}
