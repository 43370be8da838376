#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace regraft::learner {

/// What a phase read from one delivery; it adds to this what it wants to keep.
struct TicketResult {
  virtual ~TicketResult() = default;
  std::uint64_t steps = 0;
  std::optional<std::uint64_t> weight_version;  // it was acted with; nothing: it is never stale
};
using TicketResults = std::vector<std::unique_ptr<TicketResult>>;

}
