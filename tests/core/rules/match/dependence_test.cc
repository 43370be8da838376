#include "core/rules/match/dependence.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "core/graph/order.h"
#include "core/graph/random_graph.h"
#include "core/graph/reference_order.h"
#include "core/rules/instantiate/reachability.h"

namespace regraft::rules {
namespace {

using graph::Value;

struct Question {
  std::vector<Value> values, targets;
};

TEST(Dependence, AnswersAsOneSearchAQuestionDoes) {
  std::size_t dependent = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "dependence");
    graph::Tables tables;
    const graph::Graph graph = graph::testing::random_graph(tables, rng, 40);
    const std::vector<graph::NodeId> order = graph::testing::canonical_order(graph);
    std::vector<std::uint32_t> position(graph.id_bound(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    const auto pick = [&](std::span<const graph::NodeId> nodes) {
      const graph::NodeId id = nodes[rng.below(nodes.size())];
      return Value{id, static_cast<std::uint32_t>(rng.below(graph.node(id).outputs.size()))};
    };
    const std::vector<graph::NodeId> all = graph::topological_order(graph);  // with weights, which are read
    Dependence dependence(graph);
    for (int round = 0; round < 3; ++round) {  // again on the same object
      std::vector<Question> questions(100);
      dependence.begin(order, position);
      for (Question& question : questions) {
        for (std::uint64_t i = rng.below(3); i > 0; --i) question.values.push_back(pick(order));
        for (std::uint64_t i = rng.below(3); i > 0; --i) question.targets.push_back(pick(all));
        if (dependence.might(question.values, question.targets))
          dependence.announce(question.values, question.targets);
      }
      dependence.settle();
      for (const Question& question : questions) {
        const bool wanted = Reachability().any(graph, question.values, question.targets);
        const bool found = dependence.might(question.values, question.targets) &&
                           dependence.depends(question.values, question.targets);
        ASSERT_EQ(found, wanted);
        dependent += wanted;
      }
    }
  }
  EXPECT_GT(dependent, 1000u);
}

}  // namespace
}
