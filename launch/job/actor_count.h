#pragma once

#include <cstdint>

#include "core/base/bound_options.h"

namespace regraft::launch {

/// Actors that a job would have: the options `actors.*`.
struct ActorCount {
  std::int64_t dreaming = 0, real = 2;
  double simulated_step_ms = 0;  // for measurements
  std::int64_t all() const { return dreaming + real; }
};
const BoundOptions<ActorCount>& actor_options();

}
