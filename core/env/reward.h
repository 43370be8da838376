#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/cost.h"
#include "core/graph/graph.h"

namespace regraft::env {

/// How a rewrite is paid.
///   incremental: (before - after) / initial at every step.
///   terminal:    (initial - final) / initial at the step that terminates the episode, 0 elsewhere. Where the
///   horizon
///                truncates, nothing is paid there: the value that is bootstrapped stands for it.
///   best:        (least - after) / initial where a step reaches a graph cheaper than all before, 0
///   elsewhere: what follows the best graph costs nothing, so neither a way through dearer graphs nor a step
///   too many is punished. It fits a use that keeps the best graph of an episode, as the searches do.
/// With gamma 1 the first two add up to the relative improvement of a terminated episode, the last to that of
/// its best graph.
enum class RewardKind : std::uint8_t { incremental, terminal, best };

/// The names of all kinds, in their order.
const std::vector<std::string>& reward_kind_names();
/// Throws EnvError on another word, naming those that exist.
RewardKind reward_kind_from_name(std::string_view name);
std::string_view reward_kind_name(RewardKind kind);

/// What a reward may look at.
struct RewardInput {
  const cost::Cost& initial;
  const cost::Cost& before;
  const cost::Cost& after;
  const graph::Graph& graph;  // after the step
  std::uint32_t step = 0;     // steps taken in this episode, this one included
  bool terminated = false;
};

/// One reward scheme; a new one (detailed, measured) is one more class and one more RewardKind. One instance
/// belongs to one environment; it may keep state over an episode.
class Reward {
 public:
  virtual ~Reward() = default;
  virtual void reset() = 0;
  virtual double pay(const RewardInput& input) = 0;
  /// One that goes on from the same point of the episode.
  virtual std::unique_ptr<Reward> clone() const = 0;
};

std::unique_ptr<Reward> make_reward(RewardKind kind);

}  // namespace regraft::env
