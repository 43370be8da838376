#pragma once

#include <cstdint>

namespace regraft::launch {

/// Actors that a job would have.
struct ActorCount {
  std::int64_t dreaming = 0, real = 0;
  std::int64_t all() const { return dreaming + real; }
};

}  // namespace regraft::launch
