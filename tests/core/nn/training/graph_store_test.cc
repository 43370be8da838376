#include "core/nn/training/graph_store.h"

#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn::training {
namespace {

constexpr std::uint64_t kSeed = 5233;
constexpr std::uint32_t kKinds = 20;

/// A store of some graphs, one of which has no edge, and minibatches that are joined on the host.
class GraphStoreTest : public testing::TestWithParam<env::ActionMode> {
 protected:
  GraphStoreTest() {
    set_torch_threads(1);
    test::SyntheticSize size{.action_mode = GetParam()};
    for (const std::size_t nodes : {9, 1, 33, 2, 17}) {
      size.nodes = nodes;
      observations_.push_back(test::synthetic_observation(size, rng_));
    }
    rules_ = size.rules;
  }
  GraphBatch joined(std::span<const std::size_t> graphs) const {
    std::vector<const env::Observation*> chosen;
    for (const std::size_t graph : graphs) chosen.push_back(&observations_[graph]);
    return make_batch(chosen, kKinds, rules_);
  }

  Rng rng_{kSeed, "graph store"};
  std::size_t rules_ = 0;
  std::vector<env::Observation> observations_;
};

void expect_same(const Rows& found, const Rows& expected) {
  EXPECT_EQ(found.groups, expected.groups);
  EXPECT_TRUE(found.group.to(torch::kInt64).equal(expected.group.to(torch::kInt64)));
}

TEST_P(GraphStoreTest, ASelectionIsWhatTheHostWouldHaveJoined) {
  SCOPED_TRACE(kSeed);
  const std::vector<std::size_t> all{0, 1, 2, 3, 4};
  const GraphStore store(joined(all), torch::kCPU);
  const std::vector<std::vector<std::size_t>> selections{all, {4, 1, 0}, {2}, {1}, {3, 3, 1, 4}};
  for (const std::vector<std::size_t>& graphs : selections) {
    const BatchTensors found = store.select(graphs), expected(joined(graphs), torch::kCPU);
    for (const auto rows :
         {&BatchTensors::node_kind, &BatchTensors::sender, &BatchTensors::receiver, &BatchTensors::node_graph,
          &BatchTensors::edge_graph, &BatchTensors::candidate_rule, &BatchTensors::matched_candidate,
          &BatchTensors::matched_node, &BatchTensors::root_candidate, &BatchTensors::root_node})
      expect_same(found.*rows, expected.*rows);
    for (const auto rows : {&CandidateTensors::graph, &CandidateTensors::pair, &CandidateTensors::pair_graph})
      expect_same(found.groups.*rows, expected.groups.*rows);
    EXPECT_TRUE(found.groups.rules.equal(expected.groups.rules));
    ASSERT_EQ(found.groups.log_priors.defined(), GetParam() == env::ActionMode::all_sites);
    if (found.groups.log_priors.defined()) {
      EXPECT_TRUE(found.groups.log_priors.equal(expected.groups.log_priors));
    }
    for (const auto column :
         {&BatchTensors::node_features, &BatchTensors::edge_features, &BatchTensors::globals,
          &BatchTensors::outgoing_scale, &BatchTensors::incoming_scale, &BatchTensors::node_count_inverse,
          &BatchTensors::edge_count_inverse, &BatchTensors::matched_inverse})
      EXPECT_TRUE((found.*column).equal(expected.*column));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, GraphStoreTest,
                         testing::Values(env::ActionMode::one_site, env::ActionMode::all_sites),
                         [](const auto& mode) { return std::string(enum_name(mode.param)); });

}  // namespace
}
