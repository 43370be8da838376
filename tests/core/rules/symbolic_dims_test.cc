// Shipped rules on dims that are symbols: what is only known at run time must not be taken for granted.
#include <gtest/gtest.h>

#include "core/rules/graph_builder.h"
#include "core/rules/rewrite.h"
#include "core/rules/rule_set.h"

namespace regraft::rules::testing {
namespace {

/// Relu(Gather{0}(Slice{[start], [100], [0], [1]}(x[n, 4]), [1])): how often a rule matches.
std::size_t matches_of(const std::string& name, std::int64_t start) {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  GraphBuilder b;
  graph::TensorType type;
  type.dtype = graph::DType::float32;
  type.ranked = true;
  type.dims = {graph::symbol_dim(b.tables().symbol("n")), graph::Dim(4)};
  const Value x{b.graph().add_input(b.tables().intern(type), 0), 0};
  const Value sliced =
      b.op(OpKind::slice, {x, b.integers({start}), b.integers({100}), b.integers({0}), b.integers({1})});
  b.output(
      b.op(OpKind::relu, {b.op(OpKind::gather, {sliced, b.integers({1})}, {{Attr::axis, std::int64_t{0}}})}));
  const MatchIndex index(rules, b.graph());
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
    if (rules.info(rule).name == name) return index.matches(rule).size();
  ADD_FAILURE() << "no rule is called " << name;
  return 0;
}

TEST(SymbolicDims, ASliceFromTheEndHasNoKnownStart) {
  EXPECT_EQ(matches_of("slice-gather", 2), 1u);
  EXPECT_EQ(matches_of("slice-gather", -3), 0u)
      << "row 1 of the last three is not row -2 where there are two rows";
}

}  // namespace
}  // namespace regraft::rules::testing
