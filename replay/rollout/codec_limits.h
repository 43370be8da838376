#pragma once

#include <cstddef>

namespace regraft::replay {

/// Bounds on what is decoded: bytes come from other machines.
struct CodecLimits {
  std::size_t nodes = 1 << 16;
  std::size_t edges = 1 << 18;
  std::size_t candidates = 1 << 17;
  std::size_t table_bytes = std::size_t{32} << 20;  // of one table of one observation
  std::size_t rules = 1 << 14;
};

}
