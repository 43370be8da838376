#include "actors/collector.h"

#include <chrono>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/wire/error.h"

namespace regraft::actors {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // for a ticket, before looking whether to stop

}  // namespace

struct EnvironmentPool::Held {
  Held(std::unique_ptr<Task> loaded, const WorkloadOptions& options, const Clock& clock)
      : task(std::move(loaded)), environment(make_environment(*task, options, clock)) {}
  std::unique_ptr<Task> task;
  env::Environment environment;
};

EnvironmentPool::EnvironmentPool(WorkloadOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
EnvironmentPool::~EnvironmentPool() = default;

env::Environment& EnvironmentPool::environment(std::uint32_t model) {
  auto& held = held_[model];
  if (!held) held = std::make_unique<Held>(load_task(options_, model), options_, clock_);
  return held->environment;
}

Collector::Collector(wire::Link& link, WorkloadOptions workload, replay::Chooser choose, const Clock& clock)
    : link_(link), environments_(std::move(workload), clock), choose_(std::move(choose)) {}

void Collector::run(const std::stop_token& stopped) {
  try {
    while (!stopped.stop_requested()) {
      while (link_.next_ack(std::chrono::milliseconds(0))) {
      }
      if (const auto ticket = link_.next_ticket(kPatience)) play(*ticket);
    }
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kClosed) throw;
    log_debug("the run has ended: {}", error.what());
  }
}

void Collector::play(const wire::Ticket& ticket) {
  const replay::Rollout rollout = replay::play_rollout(environments_.environment(ticket.model), ticket.model,
                                                       ticket.seed, ticket.sequence, choose_);
  steps_ += rollout.steps.size();
  ++episodes_;
  wire::PartInfo info;
  info.weight_version = ticket.weight_version;
  info.steps = static_cast<std::uint32_t>(rollout.steps.size());
  info.policy_steps = steps_;
  std::vector<wire::Frame> frames;
  frames.push_back(wire::Frame::adopt(replay::encode_rollout(rollout)));
  link_.send(ticket, info, std::move(frames));
}

}  // namespace regraft::actors
