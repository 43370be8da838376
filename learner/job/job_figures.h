#pragma once

#include <cstdint>

#include "core/wire/counters.h"
#include "core/wire/hub.h"
#include "learner/job/intake_counts.h"

namespace regraft::learner {

/// A job in figures, at one moment.
struct JobFigures {
  std::uint64_t updates = 0;             // done; the weights' version is one higher
  double seconds = 0, seconds_here = 0;  // of training: of all generations, of this one
  double done_share = 0;  // of train.updates or train.minutes, the nearer one; 0 without either
  bool ending = false;    // it stops, here or for good
  bool finished = false;  // a limit was reached, or the phase is done
  IntakeCounts intake;
  wire::HubStatus hub;
  wire::TransportCounters moved;

  /// The factor of learning rate and entropy bonus, where they fall to a tenth over the run.
  double annealed() const { return 1 - 0.9 * done_share; }
};

}
