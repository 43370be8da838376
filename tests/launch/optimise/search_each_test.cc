// How a search's limits are shared out among the graphs of a model.
#include "launch/optimise/search_each.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/onnx/model_builder.h"

namespace regraft::launch {
namespace {

namespace pb = ::onnx;
using onnx::test::add_inner;
using onnx::test::ModelBuilder;
using ::testing::ElementsAre;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// x * c * c in the main graph and, of a larger value, in one branch of an If; the other branch has no match.
std::string branches() {
  ModelBuilder model;
  model.input("x", {"8"}).input("z", {"4096", "64"}).input("b", {}, pb::TensorProto::BOOL);
  model.output("y", {"4096", "64"}).output("m", {"8"});
  model.initializer("c", {}, std::vector<float>{0.5}, pb::TensorProto::FLOAT);
  model.node("Mul", {"x", "c"}, {"h"});
  model.node("Mul", {"h", "c"}, {"m"});
  pb::NodeProto& choice = model.node("If", {"b"}, {"y"});
  pb::GraphProto& then = onnx::test::body(choice, "then_branch");
  add_inner(then, "Mul", {"z", "c"}, "once");
  add_inner(then, "Mul", {"once", "c"}, "twice");
  then.add_output()->set_name("twice");
  pb::GraphProto& other = onnx::test::body(choice, "else_branch");
  add_inner(other, "Tanh", {"z"}, "tanh");
  other.add_output()->set_name("tanh");
  return model.bytes();
}

class SearchEachTest : public ::testing::Test {
 protected:
  /// Which graphs are searched, in order, and with what limits, when each search spends `seconds`.
  std::vector<std::size_t> searched(const std::vector<double>& runs, const search::SearchLimits& limits,
                                    double seconds) {
    std::vector<std::size_t> order;
    parts_.clear();
    search_each(graphs_, runs, rules_, costs_, limits, [&](std::size_t at, const search::SearchLimits& part) {
      order.push_back(at);
      parts_.push_back(part);
      search::SearchResult result;
      result.seconds = seconds;
      return result;
    });
    return order;
  }

  std::vector<cost::SeveralSizesFactory> costs() const {
    const auto device = cost::load_device(REGRAFT_SOURCE_DIR "/configs/devices/cpu-1core.toml");
    std::vector<cost::SeveralSizesFactory> costs;
    for (std::size_t at = 0; at < graphs_.size(); ++at)
      costs.emplace_back(device, std::vector{graph::Bindings()}, graphs_[at]);
    return costs;
  }

  std::string bytes_ = branches();
  onnx::ImportedModel model_ = onnx::test::import_text(bytes_);
  ModelGraphs graphs_{model_};
  rules::RuleSet rules_ =
      rules::RuleSet::parse("twice: Mul(Mul(x, c), d), const(c, d) => Mul(x, Mul(c, d))\n", "test.rules");
  std::vector<cost::SeveralSizesFactory> costs_ = costs();
  std::vector<search::SearchLimits> parts_;
};

TEST_F(SearchEachTest, TheCheapestGoesFirstAndLeavesWhatItDoesNotNeed) {
  EXPECT_THAT(searched({1, 1, 1}, {.seconds = 60}, 0.5), ElementsAre(0, 1));
  EXPECT_LT(parts_[0].seconds, 30) << "less than half: the main graph costs less";
  EXPECT_DOUBLE_EQ(parts_[1].seconds, 59.5);
  EXPECT_EQ(parts_[1].expansions, kNoLimit);
}

TEST_F(SearchEachTest, WhatNeverRunsOrHasNoMatchIsLeftOut) {
  EXPECT_THAT(searched({1, 0, 1}, {.seconds = 60}, 0), ElementsAre(0));
  EXPECT_EQ(parts_[0].seconds, 60);
  EXPECT_EQ(parts_[0].expansions, kNoLimit);
}

TEST_F(SearchEachTest, RunsWeigh) {
  EXPECT_THAT(searched({1e9, 1, 1}, {.seconds = 60, .expansions = 100}, 0), ElementsAre(1, 0));
  EXPECT_EQ(parts_[0].expansions, 1u);
  EXPECT_EQ(parts_[1].expansions, 100u);
}

}  // namespace
}
