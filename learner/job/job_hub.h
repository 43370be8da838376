#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/hub.h"
#include "core/wire/ledger.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"

namespace regraft::learner {

/// What a job needs of wire::Hub, so that a test can stand in for it. Threads and errors as there.
class JobHub {
 public:
  virtual ~JobHub() = default;
  virtual std::optional<wire::Delivery> take(std::chrono::milliseconds wait) = 0;
  virtual wire::Verdict decide(const wire::Ticket& ticket, wire::Verdict verdict) = 0;
  virtual void publish(std::uint64_t version, std::vector<std::byte> weights) = 0;
  /// Writes the run file, by which actors find the hub.
  virtual void announce(const std::filesystem::path& run_file) = 0;
  virtual void wake() = 0;
  virtual void stop_issuing() = 0;
  virtual void stop() = 0;
  virtual wire::HubStatus status() const = 0;
  virtual wire::TransportCounters counters() const = 0;
};

/// Ledger and clock outlive the hub.
using MakeHub = std::function<std::unique_ptr<JobHub>(wire::Ledger& ledger, wire::TicketSource source,
                                                      const Clock& clock)>;

/// A hub of this run that listens as the options say, for results of at most `max_parts` parts (0: the
/// transport's default). In lock step lost work is issued again. It makes the server's keys where there are
/// none. Throws WireError.
MakeHub listening_hub(const RunFolder& folder, const LearnerOptions& options, std::uint32_t max_parts,
                      bool lock_step);

/// The id of the folder's run. Throws FileError.
std::string run_id_of(const RunFolder& folder);

}
