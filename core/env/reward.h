#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/enum_names.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"

namespace regraft::env {

/// How a rewrite is paid, always relative to the initial graph.
///   incremental: (before - after) / initial at every step.
///   terminal:    (initial - final) / initial at the step that terminates the episode, 0 elsewhere. Where the
///                horizon truncates, nothing is paid there: the value that is bootstrapped stands for it.
///   best:        (least - after) / initial where a step reaches a graph cheaper than all before, else 0:
///                what follows the best graph costs nothing, so neither a way through dearer graphs nor a
///                step too many is punished. It fits a use that keeps the best graph of an episode, as
///                searches do.
///   detailed:    incremental, of latency, flops, peak memory and launches, each relative to its own initial
///                value, in a weighted mean.
///   measured:    (last measured - now) / initial of real latency, by an injected meter, every k steps and at
///                the step that terminates the episode, or only there. A graph is measured anew when an
///                episode comes to it again, kMostMeasurements times in all; the median so far counts.
/// With gamma 1 the rewards of a terminated episode add up to its relative improvement: of the final graph,
/// or `best` of the best one, `detailed` in the weighted mean, `measured` as measured.
enum class RewardKind : std::uint8_t { incremental, terminal, best, detailed, measured };
constexpr std::array<std::string_view, 5> enum_names(RewardKind) {
  return {"incremental", "terminal", "best", "detailed", "measured"};
}

/// Weights of `detailed`: at least 0 each, not all 0. They count relative to their sum. By default latency
/// alone.
struct RewardWeights {
  double latency = 1;
  double flops = 0;
  double memory = 0;
  double launches = 0;

  /// With such weights `detailed` pays what `incremental` does.
  bool latency_alone() const { return flops == 0 && memory == 0 && launches == 0; }
};

/// Measurements of one graph, for the measured reward, by one environment.
inline constexpr std::size_t kMostMeasurements = 5;

/// Real latency of graphs; made where a runtime may be linked. Called from the environment's thread.
class LatencyMeter {
 public:
  virtual ~LatencyMeter() = default;
  virtual double latency_us(const graph::Graph& graph) = 0;
};

/// What the kinds need beside their name.
struct RewardSettings {
  RewardWeights weights = {};
  std::uint32_t measure_every = 0;  // steps; 0: only at the end
  LatencyMeter* meter = nullptr;    // of `measured`; outlives the environment
};

/// What a reward may look at.
struct RewardInput {
  const cost::Cost& initial;
  const cost::Cost& before;
  const cost::Cost& after;
  const graph::Graph& graph;  // after the step
  std::uint32_t step = 0;     // steps taken in this episode, this one included
  bool terminated = false;
};

/// One reward scheme; a new one is one more class and one more RewardKind. One instance belongs to one
/// environment; it may keep state over an episode.
class Reward {
 public:
  virtual ~Reward() = default;
  /// A new episode on `start`, the same graph every time.
  virtual void reset(const graph::Graph& start) = 0;
  virtual double pay(const RewardInput& input) = 0;
  /// One that goes on from the same point of the episode.
  virtual std::unique_ptr<Reward> clone() const = 0;
};

/// Throws EnvError on weights out of range, and on `measured` without a meter.
std::unique_ptr<Reward> make_reward(RewardKind kind, const RewardSettings& settings = {});

}
