// An error of a rule in the middle of the index's work.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/base/rng.h"
#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"
#include "support/dead_nodes.h"

namespace regraft::rules::testing {
namespace {

using graph::Graph;

// The loops are short over a vector of four elements, and take more than is allowed over one of four
// thousand: in a guard, where a match is looked for; on the right side of a set, where the index is asked for
// its matches.
constexpr const char* kRules =
    "slow: Neg(x), sum([sum([j for j in range(x.-1)]) for i in range(x.-1)]) > 0 => Sub(0, x)\n"
    "slow-set: y@ = MatMul(x, w@), const(w@), rank(x) == 2, rank(w@) == 2\n"
    "    => n = sum([sum([j for j in range(x.-1)]) for i in range(x.-1)]);\n"
    "       z = MatMul(x, Concat{1}(w@...)); (y@...) = Split{1, [w@.1...]}(Mul(z, n / n))\n"
    "relu: Relu(Relu(x)) => Relu(x)\n";

using Lists = std::vector<std::vector<Match>>;

/// All matches, or nothing where finding them is an error.
std::optional<Lists> matches_of(const MatchIndex& index, const RuleSet& rules) {
  Lists lists;
  try {
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
      lists.emplace_back(index.matches(rule).begin(), index.matches(rule).end());
  } catch (const RuleError&) {
    return std::nullopt;
  }
  return lists;
}

std::optional<Lists> fresh_matches(const Graph& graph, const RuleSet& rules) {
  try {
    return matches_of(MatchIndex(rules, graph), rules);
  } catch (const RuleError&) {
    return std::nullopt;
  }
}

/// Whether it was an error.
bool update_fails(MatchIndex& index, std::span<const graph::NodeId> touched) {
  try {
    index.update(touched);
  } catch (const RuleError&) {
    return true;
  }
  return false;
}

class IndexAfterAnError : public ::testing::Test {
 protected:
  IndexAfterAnError()
      : rules_(RuleSet::parse(kRules, "t")),
        small_(builder_.input({2, 4})),
        large_(builder_.input({2, 4000})),
        narrow_{weight({4, 2}), weight({4000, 2})},
        wide_{weight({4, 3}), weight({4000, 3})} {
    for (const Value x : {small_, large_}) builder_.output(builder_.op(OpKind::abs, {x}));
    builder_.graph().commit();
  }

  Graph& graph() { return builder_.graph(); }
  graph::WeightId weight(const std::vector<std::int64_t>& dims) {
    return graph().weight_of(builder_.weight(dims));
  }

  GraphBuilder builder_;
  RuleSet rules_;
  Value small_, large_;
  std::array<graph::WeightId, 2> narrow_, wide_;  // for each of the two
};

// What was not yet looked at when the error came is not forgotten once its cause is gone.
TEST_F(IndexAfterAnError, HasAllMatchesOnceTheCauseIsGone) {
  MatchIndex index(rules_, graph());
  Graph::Mark mark = graph().mark();
  const Value before = graph().outputs()[1], cause = builder_.op(OpKind::neg, {large_});
  graph().set_output(1, cause);
  graph().set_output(0, builder_.op(OpKind::relu, {builder_.op(OpKind::relu, {small_})}));
  EXPECT_TRUE(update_fails(index, graph().touched_since(mark)));
  EXPECT_THROW(index.match_count(), RuleError) << "the cause is there still";
  EXPECT_THROW(index.matches(0), RuleError);
  mark = graph().mark();
  graph().set_output(1, before);
  graph().remove(cause.node);
  EXPECT_FALSE(update_fails(index, graph().touched_since(mark)));
  EXPECT_EQ(index.match_count(), 1u);
  EXPECT_EQ(matches_of(index, rules_), fresh_matches(graph(), rules_));
}

// Edits and undo at random, some of which bring the cause of an error and some of which take it away: the
// index is a fresh one, or fails as a fresh one does.
TEST_F(IndexAfterAnError, IsAFreshOneWheneverAFreshOneCanBeMade) {
  constexpr std::uint64_t kSeed = 1;
  Rng rng(kSeed, "edits");
  MatchIndex index(rules_, graph());
  std::vector<Graph::Mark> marks;
  std::size_t errors = 0, lists = 0;
  for (int step = 0; step < 50; ++step) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " step " + std::to_string(step));
    std::vector<graph::NodeId> touched;
    if (!marks.empty() && rng.below(3) == 0) {
      const std::size_t back = rng.below(marks.size());
      touched = graph().touched_since(marks[back]);
      graph().undo_to(marks[back]);
      marks.resize(back);
    } else {
      marks.push_back(graph().mark());
      const bool is_large = rng.below(5) == 0;
      const Value x = is_large ? large_ : small_;
      const std::uint32_t output = is_large ? 1 : 0;
      if (rng.below(3) == 0) {
        const auto product = [&](const std::array<graph::WeightId, 2>& of) {
          return builder_.op(OpKind::matmul, {x, graph().weight_value(of[is_large ? 1 : 0])});
        };
        const Value y = product(narrow_), z = product(wide_);
        graph().set_output(output, builder_.op(OpKind::concat, {y, z}, {{Attr::axis, std::int64_t{1}}}));
      } else {
        const OpKind kind = rng.below(2) == 0 ? OpKind::relu : OpKind::neg;
        graph().set_output(output, builder_.op(kind, {rng.below(2) == 0 ? graph().outputs()[output] : x}));
      }
      remove_all_dead(graph());
      touched = graph().touched_since(marks.back());
    }
    update_fails(index, touched);
    const auto wanted = fresh_matches(graph(), rules_);
    ASSERT_EQ(matches_of(index, rules_), wanted);
    ++(wanted ? lists : errors);
  }
  EXPECT_GT(errors, 5u);
  EXPECT_GT(lists, 10u);
}

}  // namespace
}
