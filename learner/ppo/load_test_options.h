#pragma once

#include <cstdint>
#include <string>

#include "core/base/bound_options.h"

namespace regraft::learner {

/// What a load test does (load_test_phase.h).
struct LoadTestOptions {
  double seconds = 10;            // measured, once all connections are at work
  std::uint64_t record = 0;       // episodes to write to RUN/recorded.episodes
  std::string replay;             // such a file: actors send what it holds
  std::uint64_t connections = 1;  // of each actor that replays
  std::string baseline;           // RUN/summary.json of another load test; empty: none
};

/// The options `load_test.*`.
const BoundOptions<LoadTestOptions>& load_test_options();

}
