#include "learner/ppo/ppo_update.h"

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

PpoUpdate decode_ppo_update(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  PpoUpdate update;
  if (const auto annealed = in.value<double>(); annealed >= 0) update.annealed = annealed;
  update.segments = read(in);
  update.best = read(in);
  in.finish();
  return update;
}

}
