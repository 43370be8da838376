#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "core/base/clock.h"
#include "core/nn/inference/policy.h"
#include "core/task/environment_pool.h"
#include "core/wire/link.h"
#include "replay/rollout/trajectory.h"

namespace regraft::actors {

/// Plays episodes of real environments with the learner's policy.
///   ticket -> weights of its version -> reset(seed) -> policy step... -> segments -> learner
/// All randomness of an episode comes from its ticket, so who plays it, and after how many restarts, does not
/// matter. One thread; models are loaded when a ticket first asks for them.
class PolicyActor {
 public:
  /// The link and the clock outlive it. `network` is the learner's. A step of an environment is made to take
  /// `simulated_step` at least, by waiting: for measurements of the rest.
  PolicyActor(wire::Link& link, task::WorkloadOptions workload, const nn::NetworkConfig& network,
              const Clock& clock, std::chrono::nanoseconds simulated_step = {});
  ~PolicyActor();

  /// Until the learner says that the run has ended or a stop is requested. Throws what the link throws
  /// otherwise.
  void run(const std::stop_token& stopped);

  std::uint64_t policy_steps() const { return policy_steps_; }
  std::uint64_t episodes() const { return episodes_; }

 private:
  void play(const wire::Ticket& ticket);
  env::StepResult timed_step(env::Environment& environment, std::size_t candidate);
  void load_weights(const wire::Ticket& ticket);
  replay::Step policy_step(env::Environment& environment, Rng& rng, bool& truncated);
  bool send(const wire::Ticket& ticket, replay::Segment segment, bool last);

  wire::Link& link_;
  task::EnvironmentPool environments_;
  nn::NetworkConfig network_;
  const std::chrono::nanoseconds simulated_step_;
  std::unique_ptr<nn::Policy> policy_;
  std::uint64_t version_ = 0;     // of the weights in policy_
  std::uint64_t generation_ = 0;  // of the learner that made them
  std::uint64_t policy_steps_ = 0;
  std::uint64_t episodes_ = 0;
};

}
