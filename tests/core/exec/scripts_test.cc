// The known fast forms: each script of configs/scripts leads from a real model to the form it names. By
// default one site of each rule is checked in fp64, and of scripts on the large models one in all;
// REGRAFT_ALL_SITES=1 checks every site.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/exec/site/site_check.h"
#include "core/rules/rewrite/script.h"
#include "support/model_world.h"
#include "support/validate.h"

namespace regraft::exec {
namespace {

struct Known {
  const char* script;
  const char* model;
  std::size_t nodes_before, nodes_after;
  double speedup;                                 // predicted: cost before / cost after
  std::map<graph::OpKind, std::size_t> ops = {};  // after
};

void PrintTo(const Known& known, std::ostream* out) {
  *out << known.script;
}

const std::filesystem::path kConfigs = std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs";

const rules::RuleSet& shipped() {
  static const rules::RuleSet rules =
      rules::RuleSet::load(kConfigs / "rules", {rules::RuleStatus::bounded_checked, {"com.microsoft"}});
  return rules;
}

std::map<graph::OpKind, std::size_t> ops_of(const graph::Graph& graph) {
  std::map<graph::OpKind, std::size_t> counts;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id)) ++counts[graph.node(id).kind];
  return counts;
}

/// Makes the rewrites again from `start`, each site that is asked for checked; gives how many were.
std::size_t check_sites(graph::Graph graph, const std::vector<rules::Match>& path) {
  const bool all = std::getenv("REGRAFT_ALL_SITES") != nullptr;
  std::set<std::uint32_t> seen;
  std::size_t checked = 0;
  set_oracle_threads(1);
  for (const rules::Match& match : path) {
    const bool wanted = seen.insert(match.rule).second || all;
    graph.commit();
    const graph::Graph before = wanted ? graph : graph::Graph(graph.tables());
    const rules::Rewrite rewrite = rules::apply(graph, shipped(), match);
    if (!wanted) continue;
    const SiteReport report = check_site(before, graph, rewrite, {});
    EXPECT_TRUE(report.passes) << shipped().info(match.rule).name << ": " << report.reason;
    ++checked;
  }
  return checked;
}

class Scripts : public ::testing::TestWithParam<Known> {};

TEST_P(Scripts, LeadToTheKnownForm) {
  const Known& known = GetParam();
  const regraft::testing::ModelWorld world(known.model);
  EXPECT_EQ(world.imported.graph().operation_count(), known.nodes_before);
  graph::Graph graph = world.start;
  const auto script = rules::Script::load(kConfigs / "scripts" / (std::string(known.script) + ".script"));
  const auto path = rules::run_script(script, graph, shipped());
  graph::validate(graph);
  EXPECT_EQ(graph.operation_count(), known.nodes_after);
  auto ops = ops_of(graph);
  for (const auto& [kind, count] : known.ops) EXPECT_EQ(ops[kind], count) << graph::op_info(kind).name;
  EXPECT_NEAR(world.costs.make(world.start)->cost().latency_us / world.costs.make(graph)->cost().latency_us,
              known.speedup, 5e-4);
  RecordProperty("sites", static_cast<int>(check_sites(world.start, path)));
}

graph::Graph after(const regraft::testing::ModelWorld& world, const std::string& script) {
  graph::Graph graph = world.start;
  rules::run_script(rules::Script::load(kConfigs / "scripts" / script), graph, shipped());
  return graph;
}

/// How many grouped convolutions have so many input channels a group.
std::map<std::int64_t, std::size_t> group_widths(const graph::Graph& graph) {
  std::map<std::int64_t, std::size_t> counts;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id) && graph.node(id).kind == graph::OpKind::conv &&
        graph.attrs(id).integer(graph::Attr::group) > 1)
      ++counts[graph.type(graph.node(id).inputs[1]).dims[1]];
  return counts;
}

TEST(KnownForms, ResNeXtHasNoGroupsBelowTheChannelBlock) {
  const regraft::testing::ModelWorld world("resnext50_32x4d");
  using Widths = std::map<std::int64_t, std::size_t>;
  EXPECT_EQ(group_widths(world.start), (Widths{{4, 3}, {8, 4}, {16, 6}, {32, 3}}));
  EXPECT_EQ(group_widths(after(world, "resnext50_32x4d-groups.script")), (Widths{{16, 13}, {32, 3}}));
}

/// How many convolutions read an average, and how many averages a convolution.
std::pair<std::size_t, std::size_t> averages(const graph::Graph& graph) {
  std::size_t read = 0, reading = 0;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    const graph::OpKind kind = graph.node(id).kind;
    const graph::OpKind source = graph.node(id).inputs.empty() || !graph.node(id).inputs[0].present()
                                     ? graph::OpKind::identity
                                     : graph.node(graph.node(id).inputs[0].node).kind;
    read += kind == graph::OpKind::conv && source == graph::OpKind::average_pool;
    reading += kind == graph::OpKind::average_pool && source == graph::OpKind::conv;
  }
  return {read, reading};
}

TEST(KnownForms, InceptionAveragesAfterItsConvolutions) {
  const regraft::testing::ModelWorld world("inception_v3");
  EXPECT_EQ(averages(world.start), (std::pair<std::size_t, std::size_t>{9, 0}));
  EXPECT_EQ(averages(after(world, "inception_v3-average.script")),
            (std::pair<std::size_t, std::size_t>{0, 9}));
}

using K = graph::OpKind;

INSTANTIATE_TEST_SUITE_P(
    Each, Scripts,
    ::testing::Values(
        Known{"nasrnn-time", "nasrnn", 295, 112, 1.5356, {{K::matmul, 6}, {K::gather, 0}}},
        Known{"resnext50_32x4d-groups", "resnext50_32x4d", 175, 175, 1.0274},
        Known{"squeezenet1_1-concats", "squeezenet1_1", 65, 75, 1.0279, {{K::concat, 0}, {K::conv, 34}}},
        Known{"inception_v3-average", "inception_v3", 309, 309, 1.0036},
        Known{"vit_b_16-token", "vit_b_16", 936, 466, 1.0850, {{K::gather, 1}, {K::squeeze, 0}}},
        Known{"vit_b_16-forms", "vit_b_16", 936, 476, 1.0189, {{K::sum, 25}}},
        Known{"vit_b_16-halves", "vit_b_16", 936, 620, 1.0449, {{K::erf, 24}}},
        Known{"vit_b_16-rows", "vit_b_16", 936, 644, 0.9927, {{K::erf, 24}, {K::concat, 13}}},
        Known{"vit_b_16-attention", "vit_b_16", 936, 510, 1.1561, {{K::gather, 1}, {K::sum, 25}}},
        Known{"vit_b_16-attention-op", "vit_b_16", 936, 368, 1.0305, {{K::multi_head_attention, 12}}},
        Known{"bert_base-attention", "bert_base", 769, 326, 1.0491, {{K::multi_head_attention, 12}}},
        Known{"bert_base-gemm", "bert_base", 769, 470, 1.0452, {{K::gemm, 73}, {K::sum, 25}}},
        Known{"bert_base-halves", "bert_base", 769, 530, 1.0812, {{K::erf, 24}, {K::sum, 25}}},
        Known{"bert_base-rows", "bert_base", 769, 554, 0.9721, {{K::erf, 24}, {K::concat, 12}}}),
    [](const auto& instance) {
      std::string name = instance.param.script;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}
