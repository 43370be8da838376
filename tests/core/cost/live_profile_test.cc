#include "core/cost/live_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/rng.h"

namespace regraft::cost {
namespace {

using graph::kNoNode;
using graph::NodeId;

constexpr NodeId kNodes = 500;

/// The line as a plain list.
struct PlainLine {
  std::vector<NodeId> nodes;
  std::vector<std::int64_t> taken = std::vector<std::int64_t>(kNodes), given = taken;

  std::int64_t peak() const {
    std::int64_t live = 0, most = 0;
    for (const NodeId id : nodes) {
      live += taken[id];
      most = std::max(most, live);
      live -= given[id];
    }
    return most;
  }
};

void expect_same(const LiveProfile& line, const PlainLine& plain) {
  ASSERT_EQ(line.size(), plain.nodes.size());
  std::vector<bool> there(kNodes, false);
  for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
    const NodeId id = plain.nodes[i];
    there[id] = true;
    ASSERT_EQ(line.before(id), i == 0 ? kNoNode : plain.nodes[i - 1]);
    ASSERT_EQ(line.after(id), i + 1 == plain.nodes.size() ? kNoNode : plain.nodes[i + 1]);
    if (i > 0) {
      ASSERT_LT(line.position(plain.nodes[i - 1]), line.position(id));
    }
  }
  for (NodeId id = 0; id < kNodes; ++id) ASSERT_EQ(line.holds(id), there[id]);
}

TEST(LiveProfile, EqualsAPlainListAfterAnyWalk) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "line");
    LiveProfile line;
    PlainLine plain;
    line.grow(kNodes);
    for (int i = 0; i < 2000; ++i) {
      const auto id = static_cast<NodeId>(rng.below(kNodes));
      const auto bytes = static_cast<std::int64_t>(rng.below(1000));
      const auto at = std::find(plain.nodes.begin(), plain.nodes.end(), id);
      if (rng.below(3) == 0) {
        line.set_taken(id, bytes);
        plain.taken[id] = bytes;
        line.give_more(id, bytes / 2 - plain.given[id]);
        plain.given[id] = bytes / 2;
      } else if (at != plain.nodes.end()) {
        line.erase(id);
        plain.nodes.erase(at);
      } else {
        const std::size_t behind = rng.below(plain.nodes.size() + 1);
        line.insert_after(behind == 0 ? kNoNode : plain.nodes[behind - 1], id);
        plain.nodes.insert(plain.nodes.begin() + static_cast<std::ptrdiff_t>(behind), id);
      }
      if (i % 50 == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_same(line, plain));
      }
      ASSERT_EQ(line.peak(), plain.peak());
    }
  }
}

TEST(LiveProfile, FindsTheLastOnTheLeftAmongThoseThatAreKnown) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "sides");
    LiveProfile line;
    line.grow(kNodes);
    const auto count = static_cast<NodeId>(rng.below(kNodes));
    for (NodeId id = 0; id < count; ++id) line.append(id);
    const auto first_right = static_cast<NodeId>(rng.below(count + 1));
    const std::uint64_t known = rng.below(6);  // of five
    std::vector<LiveProfile::Side> sides;
    NodeId expected = kNoNode;
    for (NodeId id = 0; id < count; ++id) {
      const bool left = id < first_right;
      sides.push_back(rng.below(5) >= known ? LiveProfile::Side::unknown
                      : left                ? LiveProfile::Side::left
                                            : LiveProfile::Side::right);
      if (sides.back() == LiveProfile::Side::left) expected = id;
    }
    EXPECT_EQ(line.last_on_left([&](NodeId id) { return sides[id]; }), expected);
  }
}

TEST(LiveProfile, IsSparseOnceMostOfItWasErased) {
  LiveProfile line;
  line.grow(kNodes);
  for (NodeId id = 0; id < kNodes; ++id) line.append(id);
  EXPECT_FALSE(line.is_sparse());
  for (NodeId id = 0; id < kNodes; ++id)
    if (id % 30 != 0) line.erase(id);
  EXPECT_TRUE(line.is_sparse());
  line.clear();
  EXPECT_FALSE(line.is_sparse());
  EXPECT_EQ(line.size(), 0u);
  EXPECT_EQ(line.peak(), 0);
}

}  // namespace
}
