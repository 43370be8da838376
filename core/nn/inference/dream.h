#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/env/action.h"
#include "core/env/horizon_mode.h"
#include "core/nn/inference/controller.h"
#include "core/nn/model/world_model.h"

namespace regraft::nn {

struct DreamOptions {
  std::uint32_t horizon = 0;  // steps, at least 1; invalid actions count; 0: the world model's
  env::HorizonMode horizon_mode = env::HorizonMode::terminate;
  SampleOptions sample;                                  // tau
  double invalid_penalty = env::kDefaultInvalidPenalty;  // at least 0
  /// A rule is offered where it is legal with at least this probability, and as many of its locations as
  /// there are with it; [0.5, 1). A controller seeks out what a model wrongly believes legal: it costs
  /// nothing there.
  double legality_threshold = 0.5;
};

/// Where a dream begins: an encoded initial graph, or a point of a real episode with the hidden state that
/// belongs to it.
struct DreamStart {
  std::vector<float> latent;          // [latent]
  std::vector<float> hidden, cell;    // [hidden] each; empty: zeros
  std::vector<std::uint16_t> counts;  // [rules] location counts, NO-OP's is 1
  std::uint32_t steps = 0;            // taken before; the horizon counts them
};
DreamStart start_of(const WorldStart& start);

struct DreamStep {
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
  env::Invalid invalid = env::Invalid::none;
};

/// An environment that a world model imagines (Ha and Schmidhuber 2018), many replicas side by side; the
/// contract of an episode is that of env::Environment, in the world model's numbering of rules.
///
///   (rule, location) -> embedded action -> LSTM -> reward, terminal, mask, counts; z drawn at tau
///
/// Mask: rules that are legal with the probability of DreamOptions::legality_threshold; NO-OP always. The
/// least count of the most likely bin says how many locations a rule has, or that of a lower one that is
/// certain enough. An episode ends on NO-OP, where nothing else is legal, where the terminal logit is over 0,
/// or at the horizon. Rewards are clipped to the observed quantiles; NO-OP pays 0 unless rewards come at the
/// end. No real environment is touched.
///
/// Deterministic: start, seed and actions decide an episode, whatever the other replicas do. One thread.
class Dream {
 public:
  /// Throws NnError on a world model that does not hold together, EnvError on options out of range.
  Dream(const WorldModel& world, const DreamOptions& options, std::uint32_t replicas);
  ~Dream();
  Dream(Dream&&) noexcept;
  Dream& operator=(Dream&&) noexcept;

  /// Begins an episode; throws NnError on a start of other sizes.
  void reset(std::uint32_t replica, const DreamStart& start, std::uint64_t seed);
  /// One action for each replica, those that are done ignored; the results likewise.
  std::span<const DreamStep> step(std::span<const env::Action> actions);

  std::uint32_t replicas() const;
  bool done(std::uint32_t replica) const;
  std::uint32_t steps(std::uint32_t replica) const;
  std::uint32_t noop() const;
  /// Legal rules, ascending; NO-OP is the last.
  std::span<const std::uint32_t> legal(std::uint32_t replica) const;
  /// Locations of a rule; 0 where it is not legal.
  std::uint32_t location_count(std::uint32_t replica, std::uint32_t rule) const;
  /// The location count of every rule.
  std::vector<std::uint16_t> location_counts(std::uint32_t replica) const;
  /// [z, h]; state_stride() floats from one replica's to the next.
  std::span<const float> state(std::uint32_t replica) const;
  std::size_t state_stride() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// A controller's choices in a dream; each replica has a stream of its own. One thread; what is named
/// outlives it.
class DreamPlayer {
 public:
  DreamPlayer(const Dream& dream, Controller& controller);

  /// With every Dream::reset().
  void reset(std::uint32_t replica, std::uint64_t seed);
  /// One choice for each replica that is not done.
  std::span<const ControllerChoice> choose(ActionSelection selection);
  /// The actions of those choices.
  std::span<const env::Action> actions() const { return actions_; }

 private:
  const Dream& dream_;
  Controller& controller_;
  std::vector<Rng> streams_;
  std::vector<std::uint32_t> running_;
  std::vector<ControllerChoice> choices_;
  std::vector<env::Action> actions_;
};

}
