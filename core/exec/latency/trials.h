#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/latency/launcher.h"
#include "core/exec/latency/speedup_estimate.h"

namespace regraft::exec {

struct TrialOptions {
  int threads = 1;
  double budget_s = 30;  // aimed at; exceeded where least_rounds need more
  int least_rounds = 4;
  int most_rounds = 16;
  std::optional<std::filesystem::path> feed;  // as in MeasureRequest
  std::size_t point = 0;
  std::uint64_t seed = 0;
  /// Called after each round with those that go on; may be empty.
  std::function<void(int round, std::size_t undecided)> progress;
};

/// One short session, from which a trial is planned.
Measurement probe(Launcher& launcher, const TimedModel& model, const TrialOptions& options);

/// How many contenders a trial can afford beside a first model that was probed so.
std::size_t affordable_contenders(const Measurement& first, const TrialOptions& options);

/// How much faster each contender is than the first model, by sessions in fresh processes. A round runs one
/// session of the first model and one of each contender that is undecided, in random order. A contender is
/// decided once its interval does not hold 1. One estimate a contender, in their order. What is chosen by
/// these figures is to be measured anew, by compare_latency: the best of several looks better than it is.
/// A contender that cannot be run has a speedup of 0. Throws what the launcher throws for the first model.
std::vector<SpeedupEstimate> run_trials(Launcher& launcher, const TimedModel& first,
                                        const Measurement& first_probe,
                                        std::span<const TimedModel> contenders, const TrialOptions& options);

}
