#pragma once

#include <cstdint>

namespace regraft::wire {

/// The actors that a relay's link speaks for. A link of an actor speaks for that one.
struct RelayedActors {
  std::uint32_t actors = 1;
  std::uint32_t tickets_wanted = 1;  // by all together
  std::uint64_t policy_steps = 0;    // by all that the relay has seen, each since it started
  std::uint64_t cpu_ns = 0;          // of their processes, and of their transport threads
  std::uint64_t wire_cpu_ns = 0;
};

}  // namespace regraft::wire
