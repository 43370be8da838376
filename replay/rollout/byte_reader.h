#pragma once

#include "core/base/bytes.h"
#include "replay/rollout/replay_error.h"

namespace regraft::replay {

using regraft::Bytes;
using regraft::ByteWriter;

/// Throws ReplayError.
class ByteReader : public regraft::ByteReader<ReplayError> {
 public:
  explicit ByteReader(std::span<const std::byte> bytes)
      : regraft::ByteReader<ReplayError>(bytes, "segment") {}
};

}
