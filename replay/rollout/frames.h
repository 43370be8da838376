#pragma once

#include <span>
#include <vector>

#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// The frames of one message, as a part of other bytes.
inline void write_frames(ByteWriter& out, std::span<const Bytes> frames) {
  out.varint(frames.size());
  for (const Bytes& frame : frames) {
    out.varint(frame.size());
    out.raw(frame);
  }
}

/// They point into what is read. Throws ReplayError where it ends too early.
inline std::vector<std::span<const std::byte>> read_frames(ByteReader& in) {
  std::vector<std::span<const std::byte>> frames(in.count());
  for (auto& frame : frames) frame = in.raw(in.count());
  return frames;
}

}
