#include "learner/ppo/episode.h"

#include <cmath>

#include "replay/rollout/segment_codec.h"

namespace regraft::learner {
namespace {

void require(bool holds, const char* problem) {
  if (!holds) throw replay::ReplayError(problem, "episode", "");
}

void check(const Episode& episode) {
  require(!episode.segments.empty(), "has no segment");
  for (const replay::Segment& segment : episode.segments) {
    require(segment.ticket == episode.ticket.id && segment.generation == episode.ticket.generation,
            "a segment is of another ticket");
    require(segment.model == episode.ticket.model && segment.seed == episode.ticket.seed,
            "a segment is of another model or seed");
    require(segment.weight_version == episode.weight_version(),
            "its segments were acted with different weights");
    require(segment.hierarchical == episode.hierarchical(), "its segments were acted with different heads");
    require(!segment.next_observation || segment.next_observation->action_mode == episode.action_mode(),
            "its last state has another kind of actions");
    const bool last = &segment == &episode.segments.back();
    require(!segment.next_observation || last, "it goes on after it was truncated");
    for (const replay::Step& step : segment.steps) {
      const bool may_end = last && &step == &segment.steps.back();
      require(!step.terminated || may_end, "it goes on after its end");
      require(step.observation.action_mode == episode.action_mode(),
              "its steps have different kinds of actions");
      for (const float log_probability : {step.log_probability, step.location_log_probability})
        require(std::isfinite(log_probability) && log_probability <= 0, "a log-probability is none");
      require(std::isfinite(step.value) && std::isfinite(step.reward), "a value or reward is not finite");
    }
    require(std::isfinite(segment.bootstrap_value), "a bootstrap value is not finite");
  }
  const replay::Segment& end = episode.end();
  require(std::isfinite(end.episode_return) && end.final_cost_ratio > 0 && end.best_cost_ratio > 0,
          "its summary is missing");
}

}  // namespace

std::size_t Episode::step_count() const {
  std::size_t count = 0;
  for (const replay::Segment& segment : segments) count += segment.steps.size();
  return count;
}

Episode assemble_episode(const wire::Delivery& delivery) {
  Episode episode;
  episode.ticket = delivery.ticket;
  for (const wire::Part& part : delivery.parts) {
    std::vector<std::span<const std::byte>> frames;
    for (const wire::Frame& frame : part.frames) frames.push_back(frame.bytes());
    episode.segments.push_back(replay::decode_segment(frames));
    require(episode.segments.back().steps.size() == part.header.steps,
            "a part announces another number of steps");
  }
  check(episode);
  return episode;
}

std::vector<std::byte> encode_episodes(std::span<const Episode> episodes) {
  replay::Bytes bytes;
  replay::ByteWriter out(bytes);
  out.varint(episodes.size());
  for (const Episode& episode : episodes) {
    const wire::Ticket& ticket = episode.ticket;
    for (const std::uint64_t field :
         {ticket.id, ticket.generation, std::uint64_t{ticket.model}, ticket.seed, ticket.weight_version,
          std::uint64_t{ticket.segment_length}, ticket.sequence})
      out.varint(field);
    out.varint(episode.segments.size());
    for (const replay::Segment& segment : episode.segments) {
      for (const replay::Bytes& frame : replay::encode_segment(segment)) {
        out.varint(frame.size());
        out.raw(frame);
      }
    }
  }
  return bytes;
}

std::vector<Episode> decode_episodes(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  std::vector<Episode> episodes(in.count());
  for (Episode& episode : episodes) {
    wire::Ticket& ticket = episode.ticket;
    ticket.id = in.varint();
    ticket.generation = in.varint();
    ticket.model = static_cast<std::uint32_t>(in.varint());
    ticket.seed = in.varint();
    ticket.weight_version = in.varint();
    ticket.segment_length = static_cast<std::uint32_t>(in.varint());
    ticket.sequence = in.varint();
    for (std::size_t segments = in.count(); segments > 0; --segments) {
      std::vector<std::span<const std::byte>> frames;
      for (int i = 0; i < 2; ++i) frames.push_back(in.raw(in.count()));
      episode.segments.push_back(replay::decode_segment(frames));
    }
    check(episode);
  }
  in.finish();
  return episodes;
}

}
