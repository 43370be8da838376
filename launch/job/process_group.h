#pragma once

#include <string>
#include <vector>

#include "core/base/config.h"
#include "core/base/file.h"
#include "core/wire/keys.h"
#include "launch/job/actor_count.h"
#include "launch/job/mpi_session.h"
#include "launch/job/supervisor.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// The processes that work on a job: all of them below this one, or one below each rank of an MPI job. One
/// run after another, by the main thread.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual ActorCount actors(const Config& config) const = 0;
  /// Learner and actors of a prepared run, to its end: an exit code, as Supervisor::run() gives it.
  virtual int run(const learner::RunFolder& folder) = 0;
  /// Whether a signal asked the last run to stop; it may have come to its end all the same.
  virtual bool asked_to_stop() const = 0;
};

/// As many actors as the config says.
class LocalProcessGroup : public ProcessGroup {
 public:
  ActorCount actors(const Config& config) const override;
  int run(const learner::RunFolder& folder) override;
  bool asked_to_stop() const override { return asked_to_stop_; }

 private:
  TempDir keys_{"regraft-keys"};
  bool asked_to_stop_ = false;
};

/// Rank 0: the learner here, an actor below every other rank, each of which is in follow().
class LeadingProcessGroup : public ProcessGroup {
 public:
  /// Takes the other ranks' hosts and public keys.
  explicit LeadingProcessGroup(MpiSession& mpi);
  ActorCount actors(const Config& config) const override;
  int run(const learner::RunFolder& folder) override;
  bool asked_to_stop() const override { return asked_to_stop_; }
  /// Lets the other ranks go, as must be done once; `failed`: they exit so too.
  void dismiss(bool failed);

 private:
  MpiSession& mpi_;
  std::string plan_relays(const learner::RunFolder& folder, wire::AuthorisedKeys& authorised);

  std::vector<std::string> ranks_;  // what each said of itself
  bool asked_to_stop_ = false;
};

/// Another rank: an actor for one run after another, until rank 0 lets it go. An exit code.
int follow(MpiSession& mpi);

/// Ends this rank, and so the whole job: MPI would wait for ranks that cannot know of it.
[[noreturn]] void leave_job(int code);

/// For supervisors of a training job: events on standard error.
SupervisorOptions supervisor_options();
std::string program_path();

}
