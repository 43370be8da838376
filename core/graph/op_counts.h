#pragma once

#include <cstdint>

#include "core/graph/tables.h"

namespace regraft::graph {

/// Arithmetic and memory traffic of one operation at the given bindings.
struct OpCounts {
  std::int64_t flops = 0;  // multiply-add counts 2; transcendental functions count as in op_counts' table
  std::int64_t read_bytes = 0;    // activations read
  std::int64_t write_bytes = 0;   // activations written
  std::int64_t weight_bytes = 0;  // constants read
};

OpCounts op_counts(const Tables& tables, const Signature& signature, const Bindings& bindings);

}
