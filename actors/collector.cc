#include "actors/collector.h"

#include <utility>
#include <vector>

#include "actors/tickets.h"

namespace regraft::actors {

Collector::Collector(wire::Link& link, task::WorkloadOptions workload, replay::Chooser choose,
                     const Clock& clock)
    : link_(link), environments_(std::move(workload), clock), choose_(std::move(choose)) {}

void Collector::run(const std::stop_token& stopped) {
  play_tickets(link_, stopped, [this](const wire::Ticket& ticket) { play(ticket); });
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

}
