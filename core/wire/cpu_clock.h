#pragma once

// Internal to core/wire.

#include <time.h>

#include <cstdint>

namespace regraft::wire {

/// What a CPU clock says; 0 where there is none of that id, as of a thread that has ended.
inline std::uint64_t cpu_clock_ns(clockid_t id) {
  timespec time{};
  if (::clock_gettime(id, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

}
