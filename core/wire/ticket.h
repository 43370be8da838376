#pragma once

#include <cstdint>
#include <string_view>

namespace regraft::wire {

/// What the learner wants done: one stretch of work, chosen by the learner's ticket source.
struct TicketSpec {
  std::uint32_t model = 0;           // index into the job's list of models
  std::uint64_t seed = 0;            // of the random streams of this work
  std::uint64_t weight_version = 0;  // to act with
  std::uint32_t segment_length = 0;  // steps a part of the result may have
  std::uint64_t sequence = 0;        // position in the deterministic order; a re-issued ticket keeps it

  bool operator==(const TicketSpec&) const = default;
};

/// A credit to send one result. Only issued work is counted, so that the ticket counts balance when an actor
/// is killed.
struct Ticket : TicketSpec {
  std::uint64_t id = 0;          // unique in the run, ascending, from 1
  std::uint64_t generation = 0;  // of the learner that issued it

  bool operator==(const Ticket&) const = default;
};

/// The final state of a ticket; kLate is said of a result that came after its ticket had been closed as lost.
enum class Verdict : std::uint8_t {
  kAdmitted = 1,  // in the learner's memory and journalled
  kStale,         // acted with weights that are too old
  kRejected,      // could not be used: malformed, too large, wrong version
  kDropped,       // outstanding when the learner shut down
  kLost,          // its actor died, fell silent or never got it
  kLate,          // outside the balance
};

std::string_view name_of(Verdict verdict);

}
