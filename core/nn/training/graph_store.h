#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/nn/training/network.h"

namespace regraft::nn::training {

/// The graphs of an update, checked and joined once and copied to a device once. Minibatches of any of them
/// are made there, by arithmetic on indices: the host sends their numbers alone and waits for nothing. Not
/// thread-safe.
class GraphStore {
 public:
  /// Throws NnError as make_batch() does.
  GraphStore(GraphBatch graphs, torch::Device device, torch::ScalarType type = torch::kFloat32);

  /// The graphs of these numbers, in their order, as make_batch() would join them.
  BatchTensors select(std::span<const std::size_t> graphs) const;
  /// The candidates of all graphs.
  const CandidateGroups& groups() const { return all_.host.groups; }

 private:
  enum Kind : std::size_t { node, edge, candidate, matched, root, pair, kinds };
  struct Picked;

  torch::Device device_;
  BatchTensors all_;
  std::array<std::vector<std::int64_t>, kinds> offsets_;  // [graphs + 1], of the rows of each kind
};

}
