// Any bytes as a segment: a ReplayError, or a segment that survives encoding. The first two bytes give the
// size of frame 0; the rest is frames 0 and 1.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "replay/rollout/segment_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regraft::replay;
  if (size < 2) return 0;
  const std::size_t split = data[0] + 256 * std::size_t{data[1]};
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if (split > bytes.size()) return 0;
  const CodecLimits limits{
      .nodes = 512, .edges = 2048, .candidates = 1024, .table_bytes = 1 << 18, .rules = 256};
  const std::span<const std::byte> frames[] = {bytes.first(split), bytes.subspan(split)};
  Segment segment;
  try {
    segment = decode_segment(frames, limits);
  } catch (const ReplayError&) {
    return 0;
  }
  const auto encoded = encode_segment(segment);
  const std::span<const std::byte> views[] = {encoded[0], encoded[1]};
  const Segment again = decode_segment(views, limits);
  if (again.steps.size() != segment.steps.size()) std::abort();
  for (std::size_t i = 0; i < segment.steps.size(); ++i) {
    if (again.steps[i].observation != segment.steps[i].observation) std::abort();
  }
  return 0;
}
