#include "core/search/all_sites_descent.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/env/table_cost_factory.h"
#include "core/search/conformance.h"
#include "core/search/greedy.h"
#include "support/manual_clock.h"
#include "support/validate.h"

namespace regraft::search {
namespace {

using graph::OpKind;

constexpr std::size_t kSites = 4;

/// Sites that add Erf(y), whose value they share, and whose Relus are concatenated.
struct Sites {
  Sites() : start(tables) {
    const graph::TypeId type = tables.intern(graph::DType::float32, std::array<graph::Dim, 2>{3, 8});
    const graph::Value shared = op(OpKind::erf, {{start.add_input(type, 0), 0}});
    std::vector<graph::Value> ends;
    for (std::uint32_t i = 1; i <= kSites; ++i)
      ends.push_back(op(OpKind::relu, {op(OpKind::add, {{start.add_input(type, i), 0}, shared})}));
    start.add_output(op(OpKind::sum, ends));
    graph::validate(start);
    start.commit();
  }

  graph::Value op(OpKind kind, const std::vector<graph::Value>& inputs) {
    return {start.add(kind, tables.intern(graph::AttrBlock{}), inputs), 0};
  }

  SearchResult run(Search& search, const std::string& text, SearchLimits limits = {1.0, 1000}) const {
    const rules::RuleSet rules = rules::RuleSet::parse(text, "sites.rules");
    const ManualClock clock;
    Rng rng(1, "search");
    return search.run({start, rules, costs}, limits, rng, {clock});
  }

  static env::TableCostFactory prices() {
    env::TableCostFactory::Table table{};
    table[static_cast<std::size_t>(OpKind::erf)] = 10;
    table[static_cast<std::size_t>(OpKind::tanh)] = 1;
    table[static_cast<std::size_t>(OpKind::relu)] = 1;
    table[static_cast<std::size_t>(OpKind::exp)] = 2;
    return env::TableCostFactory(table);
  }

  graph::Tables tables;
  graph::Graph start;
  env::TableCostFactory costs = prices();
};

// Each site alone adds a Tanh and frees nothing: the Erf goes with the last of them.
constexpr char kLeaveShared[] = "leave: Add(x, Erf(y)) => Add(Tanh(x), y)\n";

TEST(AllSitesDescent, TakesWhatPaysOnlyWhenEverySiteIsRewritten) {
  const Sites sites;
  EXPECT_NEAR(sites.run(*make_greedy(), kLeaveShared).best.latency_us, 10 + kSites, 1e-9);
  const SearchResult found = sites.run(*make_all_sites_descent(), kLeaveShared);
  EXPECT_NEAR(found.best.latency_us, 2 * kSites, 1e-9);
  EXPECT_EQ(found.path.size(), kSites);
  EXPECT_EQ(found.stopped_by, StoppedBy::exhausted);
}

// Exp is dearer than Relu, and what the Exps allow is seen only by the descent behind the move.
constexpr char kDearerFirst[] =
    "rise: Relu(x) => Exp(x)\n"
    "fall: Sum(Exp(a), Exp(b), Exp(c), Exp(d)) => Exp(Sum(a, b, c, d))\n";

TEST(AllSitesDescent, GoesOnFromADearerGraphByDescent) {
  const Sites sites;
  EXPECT_NEAR(sites.run(*make_greedy(), kDearerFirst).best.latency_us, 10 + kSites, 1e-9);
  const SearchResult found = sites.run(*make_all_sites_descent(), kDearerFirst);
  EXPECT_NEAR(found.best.latency_us, 10 + 2, 1e-9);
  EXPECT_EQ(found.path.size(), kSites + 1);
}

// Two moves that rise, the second of which the first makes possible.
constexpr char kTwiceDearerFirst[] =
    "rise: Relu(x) => Exp(x)\n"
    "rise-on: Sum(Exp(a), Exp(b), Exp(c), Exp(d)) => Erf(Sum(a, b, c, d))\n"
    "fall: Erf(Sum(a, b, c, d)) => Exp(Sum(a, b, c, d))\n";

TEST(AllSitesDescent, GoesOnFromADearerGraphThatADearerOneLeadsTo) {
  const Sites sites;
  EXPECT_NEAR(sites.run(*make_greedy(), kTwiceDearerFirst).best.latency_us, 10 + kSites, 1e-9);
  const SearchResult found = sites.run(*make_all_sites_descent(), kTwiceDearerFirst);
  EXPECT_NEAR(found.best.latency_us, 10 + 2, 1e-9);
  EXPECT_EQ(found.path.size(), kSites + 2);
}

// Three that rise, before the one that falls.
constexpr char kThreeDearerFirst[] =
    "rise: Relu(x) => Exp(x)\n"
    "rise-on: Sum(Exp(a), Exp(b), Exp(c), Exp(d)) => Erf(Sum(a, b, c, d))\n"
    "rise-further: Erf(Sum(a, b, c, d)) => Erf(Tanh(Sum(a, b, c, d)))\n"
    "fall: Erf(Tanh(Sum(a, b, c, d))) => Exp(Sum(a, b, c, d))\n";

TEST(AllSitesDescent, TakesAFamilyTogetherPastAnyRise) {
  const Sites sites;
  const SearchResult alone = sites.run(*make_all_sites_descent(), kThreeDearerFirst);
  EXPECT_NEAR(alone.best.latency_us, 10 + kSites, 1e-9);
  const std::string family = std::string("[class, together]\n") + kThreeDearerFirst;
  const SearchResult found = sites.run(*make_all_sites_descent(), family);
  EXPECT_NEAR(found.best.latency_us, 10 + 2, 1e-9);
  EXPECT_EQ(found.path.size(), kSites + 3);
}

TEST(AllSitesDescent, EndsAFamilyThatWouldGoOnForEver) {
  const Sites sites;
  const SearchResult found =
      sites.run(*make_all_sites_descent(),
                "[class, together]\nwrap: Relu(x) => Relu(Relu(x))\nturn: Add(x, y) => Add(y, x)\n");
  EXPECT_TRUE(found.path.empty());
}

TEST(AllSitesDescent, EndsWhereARuleUndoesItself) {
  const Sites sites;
  const SearchResult found =
      sites.run(*make_all_sites_descent(), "turn: Add(x, y) => Add(y, x)\nwrap: Relu(x) => Relu(Relu(x))\n");
  EXPECT_TRUE(found.path.empty());
  EXPECT_EQ(found.stopped_by, StoppedBy::exhausted);
}

TEST(AllSitesDescent, IsNeverWorseThanGreedyWithinTheSameLimits) {
  const Sites sites;
  const std::string text = std::string(kLeaveShared) + kDearerFirst + "drop: Relu(Add(x, y)) => Add(x, y)\n";
  for (std::uint64_t expansions = 1; expansions < 12; ++expansions) {
    const SearchLimits limits{1.0, expansions};
    const SearchResult greedy = sites.run(*make_greedy(), text, limits);
    const SearchResult found = sites.run(*make_all_sites_descent(), text, limits);
    EXPECT_LE(found.best.latency_us, greedy.best.latency_us) << expansions;
    EXPECT_LE(found.expansions, expansions);
  }
}

}  // namespace
}
