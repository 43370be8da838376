#pragma once

#include <cstdint>
#include <memory>

#include "core/env/table_cost_factory.h"
#include "core/graph/graph.h"
#include "core/rules/set/rule_set.h"

namespace regraft::env {

/// A family of graphs whose best rewriting is known, and on which steepest descent fails. A graph is a sum of
/// parallel chains of elementwise ops. Each chain has its own input, so the rewriter never merges equal nodes
/// of two chains. What is best for one chain does not depend on the others:
///
///     locked chain:  x -> Sin... -> Neg -> Relu -> Exp      (Exp is dear)
///     decoy chain:   x -> Sin... -> Neg -> Relu -> Abs
///
/// Rules, applied as text and not as arithmetic (the chains mean nothing):
///   - open-i raises the cost and works on every chain: what stands behind Neg, a Relu, becomes Softplus,
///   then
///     Erf, then Gelu (`valley` steps);
///   - unlock: the last of these before Exp becomes Tanh, by far the largest gain, on the locked chains
///   alone;
///   - bait: Relu before Exp becomes Sqrt, a small gain now, after which that chain can never be unlocked;
///   - tidy: Sin of Sin becomes Sin, a small gain that stands in nobody's way.
///
/// The optimum opens and unlocks every locked chain, touches no decoy and tidies. Greedy takes the bait.
struct SyntheticOptions {
  std::uint32_t chains = 6;  // 2 to 500: locations of open-1
  std::uint32_t locked = 1;  // 1 to chains
  std::uint32_t valley = 1;  // 1 to 3: steps uphill before the gain
  double rise_us = 1.0;      // over 0 and below 1.5: cost of one step uphill
  std::uint64_t seed = 0;    // which chains are locked, and how many Sin each has (1 or 2)
};

/// One graph of the family with what is known of it.
struct SyntheticTask {
  std::unique_ptr<graph::Tables> tables;
  std::unique_ptr<graph::Graph> start;
  double initial_us = 0;
  double optimal_us = 0;            // least cost that any sequence of rewrites reaches
  double greedy_us = 0;             // where steepest descent ends
  std::uint32_t optimal_steps = 0;  // rewrites on the shortest way to the optimum
};

/// Throws EnvError on options out of range. Equal options give equal graphs.
SyntheticTask make_synthetic_task(const SyntheticOptions& options);

/// The rules depend on `valley` alone, so one policy serves every size.
rules::RuleSet make_synthetic_rules(std::uint32_t valley);

/// The costs depend on `rise_us` alone.
TableCostFactory make_synthetic_costs(double rise_us);

}
