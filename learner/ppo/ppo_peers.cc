#include "learner/ppo/ppo_peers.h"

#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/wire/error.h"
#include "replay/rollout/bytes.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::learner {
namespace {

using replay::ByteReader;
using replay::ByteWriter;
using replay::Segment;

enum class Word : std::uint8_t { state, update, end };

void write(ByteWriter& out, std::span<const Segment> segments) {
  out.value(static_cast<std::uint64_t>(segments.size()));
  for (const Segment& segment : segments) {
    const std::vector<replay::Bytes> frames = replay::encode_segment(segment);
    out.value(static_cast<std::uint32_t>(frames.size()));
    for (const replay::Bytes& frame : frames) {
      out.value(static_cast<std::uint64_t>(frame.size()));
      out.raw(frame);
    }
  }
}

std::vector<Segment> read(ByteReader& in) {
  std::vector<Segment> segments;
  for (auto left = in.value<std::uint64_t>(); left > 0; --left) {
    std::vector<std::span<const std::byte>> frames;
    for (auto count = in.value<std::uint32_t>(); count > 0; --count)
      frames.push_back(in.raw(in.value<std::uint64_t>()));
    segments.push_back(replay::decode_segment(frames));
  }
  return segments;
}

std::uint64_t hash_of(const Ppo& ppo) {
  const nn::Weights weights = ppo.weights();
  return hash_bytes(std::as_bytes(std::span(weights.values))).low;
}

}  // namespace

void PpoPeers::tell_state(const Ppo& ppo) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.value(Word::state);
  out.raw(ppo.save());
  group_.share(std::move(bytes));
}

void PpoPeers::tell_update(const Ppo& ppo, std::optional<double> annealed, std::span<const Segment> segments,
                           std::span<const Segment> best) {
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.value(Word::update);
  out.value(hash_of(ppo));
  out.value(annealed.value_or(-1.0));
  write(out, segments);
  write(out, best);
  group_.share(std::move(bytes));
}

void PpoPeers::tell_end() {
  group_.share({static_cast<std::byte>(Word::end)});
}

void follow_updates(wire::Group& group, Ppo& ppo) {
  for (;;) {
    const std::vector<std::byte> bytes = group.share({});
    ByteReader in(bytes);
    const auto word = in.value<Word>();
    if (word == Word::end) return;
    if (word == Word::state) {
      ppo.restore(std::span(bytes).subspan(sizeof word));
      continue;
    }
    if (in.value<std::uint64_t>() != hash_of(ppo))
      throw wire::WireError(wire::WireFault::kMisuse, "its weights are not those of the first learner",
                            "learner", "start all learners on machines alike");
    if (const auto annealed = in.value<double>(); annealed >= 0) ppo.anneal(annealed);
    const std::vector<Segment> segments = read(in), best = read(in);
    in.finish();
    ppo.update(segments, best);
  }
}

}  // namespace regraft::learner
