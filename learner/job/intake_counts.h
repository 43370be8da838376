#pragma once

#include <cstdint>

namespace regraft::learner {

/// Deliveries of this generation, and what is queued now.
struct IntakeCounts {
  std::uint64_t admitted = 0, stale = 0, rejected = 0;
  std::uint64_t steps = 0;                             // of admitted results
  std::uint64_t played_steps = 0;                      // of all that could be read, whatever the verdict
  std::uint64_t payload_bytes = 0;                     // of all deliveries
  std::uint64_t queued_results = 0, queued_steps = 0;  // admitted and not yet taken in
};

}
