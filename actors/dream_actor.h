#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/nn/inference/dream.h"
#include "core/nn/inference/latent_tracker.h"
#include "core/nn/model/world_bundle.h"
#include "core/task/environment_pool.h"
#include "core/wire/link.h"
#include "replay/dream/dream_segment.h"
#include "replay/dream/dream_work.h"

namespace regraft::actors {

/// How actors of controllers play.
struct DreamActorOptions {
  nn::DreamOptions dream;
  std::uint32_t replicas = 64;     // dreams side by side: the episodes of a ticket, or as many as fit it
  std::uint32_t branch_steps = 0;  // real episodes come with branches, followed for so many steps; 0: without
};

/// Plays a controller, in dreams or in real environments, and sends its episodes:
///   ticket -> bundle of its version -> episodes -> segments -> learner
/// Where the bundle brings work (replay/dream/dream_work.h), dreams branch off the points that it names, for
/// as many steps as the ticket says. Or they measure one of its individuals; then only returns are sent. A
/// bundle comes over the wire like weights and is taken whole. A bundle that mixes versions is refused: the
/// learner is told and counts it, and the actor ends. All randomness comes from the ticket, so it does not
/// matter who plays it. One thread.
class DreamActor {
 public:
  /// The link and the clock outlive it. With a workload it plays the real environment, one episode a ticket.
  DreamActor(wire::Link& link, const DreamActorOptions& options, std::optional<task::WorkloadOptions> real,
             const Clock& clock);
  ~DreamActor();

  /// Until the learner says that the run has ended or a stop is requested. Throws what the link throws
  /// otherwise.
  void run(const std::stop_token& stopped);

  std::uint64_t steps() const { return steps_; }
  std::uint64_t episodes() const { return episodes_; }
  std::uint64_t refused_bundles() const { return slot_.refused(); }

 private:
  struct Playing;

  void load_bundle(const wire::Ticket& ticket);
  [[noreturn]] void refuse(const wire::Ticket& ticket, const std::string& bundle);
  void measure(const wire::Ticket& ticket);
  std::vector<replay::DreamSegment> dream(const wire::Ticket& ticket);
  std::vector<replay::DreamSegment> play(const wire::Ticket& ticket);
  void send(const wire::Ticket& ticket, const std::vector<replay::DreamSegment>& segments);
  replay::DreamSegment header_of(const wire::Ticket& ticket) const;

  wire::Link& link_;
  DreamActorOptions options_;
  std::optional<task::EnvironmentPool> real_;
  nn::BundleSlot slot_;
  std::unique_ptr<Playing> playing_;
  std::unique_ptr<nn::LatentTracker> tracker_;  // of the bundle's world, in real environments
  replay::DreamWork work_;                      // of the bundle
  replay::Bytes branches_;                      // of the real episode that was played last
  std::uint64_t version_ = 0, generation_ = 0;
  std::uint64_t steps_ = 0, episodes_ = 0;
};

}
