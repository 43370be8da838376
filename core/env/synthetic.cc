#include "core/env/synthetic.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/env/env_error.h"

namespace regraft::env {
namespace {

using graph::OpKind;

constexpr std::uint32_t kMaxValley = 3;
constexpr double kSin = 0.2, kNeg = 0.5, kShut = 1.0, kDecoy = 1.0, kLocked = 8.0, kBaited = 8.5,
                 kUnlocked = 0.5;
constexpr double kSum = 1.0;

/// The op behind Neg after i steps uphill.
constexpr std::array<std::pair<OpKind, const char*>, kMaxValley + 1> kStages = {
    {{OpKind::relu, "Relu"}, {OpKind::softplus, "Softplus"}, {OpKind::erf, "Erf"}, {OpKind::gelu, "Gelu"}}};

void check(const SyntheticOptions& options) {
  const auto refuse = [](const char* what, const char* where, const char* remedy) {
    throw EnvError(what, where, remedy);
  };
  if (options.chains < 2 || options.chains > 500)
    refuse("the number of chains is out of range", "chains", "use 2 to 500");
  if (options.locked < 1 || options.locked > options.chains) {
    refuse("the number of locked chains is out of range", "locked", "use 1 to chains");
  }
  if (options.valley < 1 || options.valley > kMaxValley)
    refuse("the valley is out of range", "valley", "use 1 to 3");
  if (!(options.rise_us > 0 && options.rise_us < 1.5)) {
    refuse("the rise is out of range", "rise_us", "use a number over 0 and below 1.5");
  }
}

/// Which chains are locked: `locked` of them, all choices equally likely.
std::vector<bool> choose_locked(const SyntheticOptions& options, Rng& rng) {
  std::vector<bool> locked(options.chains, false);
  for (std::uint32_t left = options.locked; left > 0;) {
    const std::uint64_t chain = rng.below(options.chains);
    if (locked[chain]) continue;
    locked[chain] = true;
    --left;
  }
  return locked;
}

/// Appends ops of one input to a value.
graph::Value append(graph::Graph& graph, graph::Value value, OpKind kind, std::uint32_t times = 1) {
  for (std::uint32_t i = 0; i < times; ++i) {
    const graph::Value inputs[] = {value};
    value = {graph.add(kind, graph.tables().intern(graph::AttrBlock{}), inputs), 0};
  }
  return value;
}

std::string rules_text(std::uint32_t valley) {
  std::string text;
  for (std::uint32_t i = 0; i < valley; ++i) {
    const std::string from = kStages[i].second, to = kStages[i + 1].second;
    text += "open-" + std::to_string(i + 1) + ": " + from + "(Neg(x)) => " + to + "(Neg(x))\n";
  }
  text += "unlock: Exp(" + std::string(kStages[valley].second) + "(x)) => Tanh(x)\n";
  text += "bait: Exp(Relu(x)) => Sqrt(x)\n";
  text += "tidy: Sin(Sin(x)) => Sin(x)\n";
  return text;
}

}  // namespace

rules::RuleSet make_synthetic_rules(std::uint32_t valley) {
  SyntheticOptions options;
  options.valley = valley;
  check(options);
  return rules::RuleSet::parse(rules_text(valley), "synthetic.rules");
}

TableCostFactory make_synthetic_costs(double rise_us) {
  TableCostFactory::Table table{};
  const auto set = [&](OpKind kind, double latency_us) {
    table[static_cast<std::size_t>(kind)] = latency_us;
  };
  set(OpKind::sin, kSin);
  set(OpKind::neg, kNeg);
  for (std::uint32_t i = 0; i <= kMaxValley; ++i) set(kStages[i].first, kShut + i * rise_us);
  set(OpKind::abs, kDecoy);
  set(OpKind::exp, kLocked);
  set(OpKind::sqrt, kBaited);
  set(OpKind::tanh, kUnlocked);
  set(OpKind::sum, kSum);
  return TableCostFactory(table);
}

SyntheticTask make_synthetic_task(const SyntheticOptions& options) {
  check(options);
  SyntheticTask task;
  task.tables = std::make_unique<graph::Tables>();
  task.start = std::make_unique<graph::Graph>(*task.tables);
  graph::Graph& graph = *task.start;
  Rng rng(options.seed, "synthetic");
  const std::vector<bool> locked = choose_locked(options, rng);
  const std::array<graph::Dim, 1> dims = {16};
  const graph::TypeId type = task.tables->intern(graph::DType::float32, dims);
  std::vector<graph::Value> ends;
  std::uint32_t sines = 0;
  for (std::uint32_t chain = 0; chain < options.chains; ++chain) {
    const auto length = static_cast<std::uint32_t>(1 + rng.below(2));
    sines += length;
    const graph::Value input = {graph.add_input(type, static_cast<std::int32_t>(chain)), 0};
    const graph::Value behind =
        append(graph, append(graph, append(graph, input, OpKind::sin, length), OpKind::neg), OpKind::relu);
    ends.push_back(append(graph, behind, locked[chain] ? OpKind::exp : OpKind::abs));
  }
  const graph::NodeId sum = graph.add(OpKind::sum, task.tables->intern(graph::AttrBlock{}), ends);
  graph.add_output({sum, 0});
  graph.commit();

  const double chains = options.chains, keys = options.locked, tidies = sines - options.chains;
  task.initial_us = sines * kSin + chains * (kNeg + kShut) + keys * kLocked + (chains - keys) * kDecoy + kSum;
  task.optimal_us = task.initial_us - tidies * kSin - keys * (kShut + kLocked - kUnlocked);
  task.greedy_us = task.initial_us - tidies * kSin - keys * (kShut + kLocked - kBaited);
  task.optimal_steps = static_cast<std::uint32_t>(tidies) + options.locked * (options.valley + 1);
  return task;
}

}
