#include "actors/replayer.h"

#include <utility>

#include "actors/tickets.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::actors {

Replayer::Replayer(wire::Link& link, std::span<const std::vector<replay::Segment>> episodes) : link_(link) {
  for (const std::vector<replay::Segment>& episode : episodes) {
    std::vector<Recorded>& recorded = episodes_.emplace_back();
    for (const replay::Segment& segment : episode) {
      Recorded& part = recorded.emplace_back();
      part.observations = wire::Frame::adopt(std::move(replay::encode_segment(segment).at(1)));
      part.segment = segment;
      for (replay::Step& step : part.segment.steps) step.observation = {};
      if (segment.next_observation) part.segment.next_observation.emplace();
    }
  }
}

void Replayer::run(const std::stop_token& stopped) {
  play_tickets(link_, stopped, [this](const wire::Ticket& ticket) { send(ticket); });
}

void Replayer::send(const wire::Ticket& ticket) {
  std::vector<Recorded>& episode = episodes_[ticket.seed % episodes_.size()];
  for (Recorded& part : episode) {
    replay::Segment& segment = part.segment;
    segment.ticket = ticket.id;
    segment.generation = ticket.generation;
    segment.weight_version = ticket.weight_version;
    segment.model = ticket.model;
    segment.seed = ticket.seed;
    steps_ += segment.steps.size();
    const wire::PartInfo info{.weight_version = ticket.weight_version,
                              .steps = static_cast<std::uint32_t>(segment.steps.size()),
                              .last = &part == &episode.back(),
                              .policy_steps = steps_};
    std::vector<wire::Frame> frames;
    frames.push_back(wire::Frame::adopt(replay::encode_scalars(segment)));
    frames.push_back(part.observations.share());
    if (!link_.send(ticket, info, std::move(frames))) return;
  }
}

}
