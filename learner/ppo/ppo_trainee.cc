#include "learner/ppo/ppo_trainee.h"

#include <utility>
#include <vector>

#include "replay/rollout/frames.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::learner {
namespace {

using replay::Segment;

void write(replay::ByteWriter& out, std::span<const Segment> segments) {
  out.varint(segments.size());
  for (const Segment& segment : segments) replay::write_frames(out, replay::encode_segment(segment));
}

std::vector<Segment> read(replay::ByteReader& in) {
  std::vector<Segment> segments;
  for (std::size_t left = in.count(); left > 0; --left)
    segments.push_back(replay::decode_segment(replay::read_frames(in)));
  return segments;
}

}  // namespace

std::vector<std::byte> encode_ppo_update(std::optional<double> annealed, std::span<const Segment> segments,
                                         std::span<const Segment> best) {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(annealed.value_or(-1.0));
  write(out, segments);
  write(out, best);
  return bytes;
}

void PpoTrainee::share_with(std::shared_ptr<wire::Group> group) {
  ppo_.share_with(std::move(group));
}

void PpoTrainee::restore(std::span<const std::byte> state) {
  ppo_.restore(state);
}

void PpoTrainee::update(std::span<const std::byte> data) {
  replay::ByteReader in(data);
  if (const auto annealed = in.value<double>(); annealed >= 0) ppo_.anneal(annealed);
  const std::vector<Segment> segments = read(in), best = read(in);
  in.finish();
  ppo_.update(segments, best);
}

std::vector<float> PpoTrainee::weights() const {
  return ppo_.weights().values;
}

}  // namespace regraft::learner
