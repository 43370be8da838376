#pragma once

#include <string>

#include "core/base/error.h"

namespace regraft::wire {

/// What kind of thing went wrong between processes, so that a supervisor knows whether to try again.
enum class WireFault {
  kMalformed,  // bytes that are no message of ours
  kAddress,    // an endpoint that cannot be used: in use, not resolvable, not allowed
  kKey,        // a key or key file that is missing, unreadable or not authorised
  kRefused,    // the learner answered and refused: wrong run, old incarnation, name taken
  kTimeout,    // nobody answered in time
  kClosed,     // the run has ended or this end was closed
  kCorrupt,    // bytes that fail their hash
  kGone,       // a weight version that is no longer kept
  kJournal,    // the journal cannot be read, locked or written
  kMisuse,     // a call out of order, by our own code
};

/// Every error of core/wire.
class WireError : public Error {
 public:
  WireError(WireFault fault, std::string what, std::string where, std::string remedy)
      : Error(std::move(what), std::move(where), std::move(remedy)), fault_(fault) {}

  WireFault fault() const { return fault_; }

 private:
  WireFault fault_;
};

}
