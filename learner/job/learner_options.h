#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bound_options.h"

namespace regraft::learner {

/// What a learner of any phase does.
struct LearnerOptions {
  std::uint64_t seed = 0;
  double minutes = 0;                      // of training, all generations together; 0: no limit
  std::uint64_t updates = 0;               // policy updates; 0: no limit
  std::uint64_t steps_per_update = 512;    // 0: episodes_per_update instead
  std::uint64_t episodes_per_update = 16;  // deterministic mode
  double trained_share = 1;                // of an update's steps; among the others only the best are sought
  std::uint64_t staleness = 4;             // updates a trajectory may lag behind; more: dropped
  bool anneal = true;                      // learning rate and entropy bonus fall to a tenth over the run
  std::string device = "auto";
  bool tf32 = false;           // on a GPU
  std::uint32_t learners = 1;  // processes that share each update
  int threads = 1;
  bool deterministic = false;  // weights do not depend on the number of actors, nor on their timing
  double checkpoint_minutes = 1;
  std::uint64_t checkpoints_kept = 3;
  std::uint64_t export_every = 20;  // updates
  // transport
  std::uint16_t port = 0;  // 0: any free one
  std::string address = "127.0.0.1";
  bool plain = false;
  std::string relay = "off";  // hosts whose actors share one connection
  bool ipc = true;            // for actors of this host
  std::uint64_t tickets_per_actor = 2;
  std::uint64_t outstanding_mib = 256;
  std::uint64_t max_actors = 4096;
  double actor_timeout_s = 15;
};

/// Throws UsageError where deterministic mode cannot be kept: sums depend on the number of threads, and on a
/// GPU.
void check(const LearnerOptions& options);

/// The options `train.*` and `wire.*`.
std::vector<Option> learner_options();
/// In deterministic mode `auto` is the CPU. Throws UsageError as check() does.
LearnerOptions learner_options_from(const Config& config);

}
