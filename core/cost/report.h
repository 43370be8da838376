#pragma once

#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/graph/graph.h"

namespace regraft::cost {

/// Where the latency of a graph goes.
struct Breakdown {
  struct Share {
    graph::OpKind kind;
    std::size_t count = 0;
    double latency_us = 0;
  };
  std::vector<Share> kinds;  // most expensive first, ties by kind; free kinds left out
  double latency_us = 0;
  double linear_us = 0;  // matmul, gemm, convolutions: what no rewrite around them can take away

  double linear_share() const { return latency_us > 0 ? linear_us / latency_us : 0; }
  /// The speed-up if everything but linear kernels were free.
  double ceiling() const { return linear_us > 0 ? latency_us / linear_us : 0; }
};

Breakdown breakdown(const graph::Graph& graph, CostModel& cost);

/// A table of lines "  MatMul 80 1150.2 us 92.1 %" with a last line on the ceiling.
std::string to_string(const Breakdown& breakdown);

}  // namespace regraft::cost
