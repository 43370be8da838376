#include "launch/optimise/point_costs.h"

#include <gmock/gmock.h>

#include "core/base/find_config.h"
#include "core/exec/tiny_models.h"

namespace regraft::launch {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// y = Exp(x) or Cos(x), as b says.
std::filesystem::path write_choice(const std::filesystem::path& file) {
  using exec::testing::ModelBuilder;
  ModelBuilder model, then, other;
  then.node("Exp", {"x"}, {"e"});
  then.output("e", {64, 64});
  other.node("Cos", {"x"}, {"c"});
  other.output("c", {64, 64});
  model.input("x", {64, 64}).input("b", {}, ::onnx::TensorProto::BOOL).output("y", {64, 64});
  ::onnx::NodeProto& choice = model.node("If", {"b"}, {"y"});
  ModelBuilder::set_body(choice, "then_branch", std::move(then));
  ModelBuilder::set_body(choice, "else_branch", std::move(other));
  return model.write(file);
}

TEST(PointCosts, ABranchThatWasNotTakenCountsALittle) {
  const TempDir folder;
  const onnx::ImportedModel model = onnx::import_model(write_choice(folder.path() / "m.onnx"));
  const ModelGraphs start(model);
  exec::Feed feed;
  feed.points.resize(2);
  PointCosts costs(model, feed, cost::load_device(find_config("configs/devices/cpu-1core.toml")), start);
  const auto cost_us = [&](std::size_t at) { return costs.factories()[at].latencies_us(start[at])[0]; };
  const double main_us = cost_us(0), then_us = cost_us(1), other_us = cost_us(2);
  const double both_us = main_us + then_us + other_us, one_us = main_us + then_us + 0.05 * other_us;
  costs.observe(std::vector<std::optional<double>>(3));
  EXPECT_THAT(costs.runs(), ElementsAre(1, 1, 1)) << "nothing was seen";
  EXPECT_THAT(costs.latencies_us(start), ElementsAre(DoubleEq(both_us), DoubleEq(both_us)));
  costs.observe(std::vector<std::optional<double>>{1, 1, 0});
  EXPECT_THAT(costs.runs(), ElementsAre(1, 1, 0.05));
  EXPECT_THAT(costs.idle(), ElementsAre(2));
  EXPECT_THAT(costs.latencies_us(start), ElementsAre(DoubleEq(one_us), DoubleEq(one_us)));
}

// Those at the points are measured.
TEST(PointCosts, SlowerSizesLieBeyondThePoints) {
  const TempDir folder;
  exec::testing::ModelBuilder builder;
  builder.input("x", {"n", "m", "k"}).output("y", {"n", "m", "k"});
  builder.node("Cos", {"x"}, {"y"});
  const onnx::ImportedModel model = onnx::import_model(builder.write(folder.path() / "m.onnx"));
  const ModelGraphs start(model);
  const auto slower_at = [&](const std::vector<exec::SymbolSizes>& points) {
    exec::Feed feed;
    for (const exec::SymbolSizes& sizes : points) feed.points.push_back({sizes, {}});
    const PointCosts costs(model, feed, cost::load_device(find_config("configs/devices/cpu-1core.toml")),
                           start);
    return costs.slower_sizes(graph::Graph(model.tables()), start[0]);
  };
  EXPECT_EQ(slower_at({{{"n", 8}}, {{"n", 32}}}).at("n"), 128);
  EXPECT_EQ(slower_at({{{"n", 8}}, {{"n", 2}}}).at("n"), 32);
  EXPECT_EQ(slower_at({{{"n", 8}}, {{"n", 64}}, {{"n", 2}}}).at("n"), 256);
  EXPECT_EQ(slower_at({{{"n", 8}}, {{"n", 16384}}}).at("n"), 65536);
  EXPECT_THAT(slower_at({{{"n", 8}}, {{"n", 16385}}}), IsEmpty()) << "no larger sizes are tried";
  EXPECT_THAT(slower_at({{{"k", 1}, {"m", 1}, {"n", 1}}, {{"k", 512}, {"m", 512}, {"n", 512}}}), IsEmpty());
}

}  // namespace
}
