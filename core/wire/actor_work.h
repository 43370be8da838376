#pragma once

#include <cstdint>

namespace regraft::wire {

/// What a worker has done since it started, or several of them.
struct ActorWork {
  std::uint64_t policy_steps = 0;
  std::uint64_t cpu_ns = 0;       // of its process
  std::uint64_t wire_cpu_ns = 0;  // of its transport threads

  bool operator==(const ActorWork&) const = default;
};

}
