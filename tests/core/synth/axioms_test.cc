// What the prover takes for granted, its definitions of the operations, by enumeration: each is followed once
// with all dims and integer attributes unknown, and the form that comes out is compared with exact evaluation
// for all sizes up to a bound (4 unless it says so), at every element, at random points of a field of 2^61 -
// 1 elements. Functions that are not rational are random oracles; else both are rational functions of the
// elements of the operands, of a degree below 2^16, so that two that differ agree at a point with a chance
// below 2^-45. And types: where sizes make a graph, and only there, the definition has a case.
#include <gtest/gtest.h>

#include "core/synth/axiom_cases.h"

namespace regraft::synth::testing {
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

}  // namespace
}  // namespace regraft::synth::testing
