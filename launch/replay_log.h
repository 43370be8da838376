#pragma once

#include <cstddef>
#include <filesystem>

namespace regraft::launch {

struct ReplayReport {
  std::size_t rewrites = 0;  // rules and clean-up steps
  bool identical = false;    // the replayed model has the bytes of the given one
};

/// Replays a rewrite log on the original and compares the bytes with `optimised` (design: Equivalence, c).
/// Throws what import throws, and RuleError where log and model part.
ReplayReport check_replay(const std::filesystem::path& original, const std::filesystem::path& optimised,
                          const std::filesystem::path& log,
                          const std::filesystem::path& rules = "configs/rules");

}  // namespace regraft::launch
