#include "core/nn/model/config.h"

#include <gtest/gtest.h>

#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

TEST(NetworkConfig, PresetsAreInRange) {
  for (const char* name : {"cpu", "gpu", "seeds"}) EXPECT_NO_THROW(check(preset(name, 20))) << name;
  EXPECT_THROW(preset("tpu", 20), UsageError);
  EXPECT_EQ(hidden_width(preset("cpu", 20)), 32u);
  NetworkConfig seeds = preset("seeds", 20);
  EXPECT_EQ(hidden_width(seeds), 8u) << "its wide layers are of the hierarchical head";
  seeds.head = Head::hierarchical;
  EXPECT_EQ(hidden_width(seeds), 32u);
}

TEST(NetworkConfig, EachNumberHasARange) {
  const auto refused = [](const auto& change) {
    NetworkConfig config;
    change(config);
    EXPECT_THROW(check(config), NnError);
  };
  for (const std::uint32_t width : {0u, 4u, 12u, 520u}) refused([&](NetworkConfig& c) { c.width = width; });
  for (const std::uint32_t steps : {0u, 17u}) refused([&](NetworkConfig& c) { c.steps = steps; });
  for (const std::uint32_t kinds : {0u, 65537u}) refused([&](NetworkConfig& c) { c.node_kinds = kinds; });
  refused([](NetworkConfig& c) { c.head_width = 513; });
  refused([](NetworkConfig& c) { c.rules = 1; });
  refused([](NetworkConfig& c) { c.head = Head::hierarchical; });
  EXPECT_NO_THROW(check({.width = 512, .steps = 16, .node_kinds = 65536, .head_width = 512}));
  EXPECT_NO_THROW(check({.head = Head::hierarchical, .rules = 65535}));
}

TEST(NetworkConfig, AHierarchicalHeadFitsItsRulesAlone) {
  const NetworkConfig pointer, bound{.head = Head::hierarchical, .rules = 4};
  constexpr auto kMode = env::ActionMode::one_site;
  EXPECT_NO_THROW(check_rules(pointer, 7, kMode));
  EXPECT_NO_THROW(check_rules(bound, 3, kMode)) << "three rules and NO-OP";
  EXPECT_THROW(check_rules(bound, 4, kMode), NnError);
  EXPECT_THROW(check_rules(pointer, 7, env::ActionMode::all_sites), NnError);
}

}  // namespace
}
