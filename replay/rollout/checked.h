#pragma once

// Internal to replay: what several decoders check and read alike.

#include <cmath>
#include <span>
#include <vector>

#include "replay/rollout/byte_reader.h"
#include "replay/rollout/replay_error.h"

namespace regraft::replay {

inline void require(bool holds, const char* problem, const char* where) {
  if (!holds) throw ReplayError(problem, where, "");
}

inline void put_floats(ByteWriter& out, const std::vector<float>& values) {
  out.varint(values.size());
  out.raw(std::as_bytes(std::span(values)));
}

/// Throws ReplayError on one that is not finite.
inline std::vector<float> take_floats(ByteReader& in, const char* where) {
  std::vector<float> values(in.count(sizeof(float)));
  for (float& value : values) {
    value = in.value<float>();
    require(std::isfinite(value), "a number is not finite", where);
  }
  return values;
}

}
