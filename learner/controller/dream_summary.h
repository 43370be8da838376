#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/wire/books.h"
#include "learner/ppo/lag0_check.h"

namespace regraft::learner {

/// How the phase ended. Dreamed and real interactions are counted apart.
struct DreamPhaseSummary {
  bool finished = false;  // a limit was reached; false where it was stopped before
  std::uint64_t updates = 0;
  std::uint64_t dreamed_episodes = 0, real_episodes = 0;  // trained on, as the next two
  std::uint64_t dreamed_steps = 0, real_steps = 0;
  double seconds = 0;                          // of training, all generations
  double dreamed_return = 0, real_return = 0;  // means of the last 500 episodes of each kind
  double first_dreamed_return = 0;             // of the first update
  double steps_per_s = 0;                      // of this generation
  Lag0Record lag0;
  std::uint64_t refused_bundles = 0;            // results refused for a mixture of versions
  std::optional<std::uint64_t> paused_updates;  // dyna: while guards did not let dreams go on
  std::uint32_t branch_steps = 0;               // dyna: of a dream, at last
  wire::JobBooks books;

  std::string to_json() const;
  std::string text() const;
};

}  // namespace regraft::learner
