#pragma once

#include <cstdint>

namespace regraft::wire {

/// What the sender of a part says of it; the link adds the rest.
struct PartInfo {
  std::uint64_t weight_version = 0;  // acted with; the same in all parts of a ticket
  std::uint32_t steps = 0;           // in this part
  bool last = true;
  std::uint64_t policy_steps = 0;  // by this worker since it started
};

}
