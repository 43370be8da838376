#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "learner/job/curve_point.h"

namespace regraft::learner {

/// A line of progress for people.
struct PhaseProgress {
  std::string label{}, unit{};  // a new label begins a new count
  std::uint64_t total = 0, done = 0;
  std::string note{};
};

/// What there is to show after an update, or while it waits for one.
struct PhaseReport {
  std::optional<CurvePoint> point{};  // where one is due; JobRunner adds the curves of every job
  PhaseProgress progress{};
};

/// A job that has ended.
struct PhaseSummary {
  nlohmann::json figures{};          // for RUN/summary.json
  std::string text{};                // for people
  bool sound = true;                 // its own counts are free of contradictions
  std::function<void()> farewell{};  // is called last, once RUN/summary.json is written; null: nothing
};

}
