#pragma once

#include <torch/types.h>

#include "core/nn/training/graph_batch.h"

namespace regraft::nn::training {

/// A RowMap on a device: the group of each row, int32 or int64.
struct Rows {
  torch::Tensor group;
  std::int64_t groups = 0;
};

/// On the CPU the tensor aliases `map`, which must outlive it.
Rows to_rows(const RowMap& map, torch::Device device);

/// y[i] = x[group[i]]: [groups, w] -> [rows, w]. The gradient is the segment sum, in a fixed order on the
/// CPU.
torch::Tensor gather(const torch::Tensor& x, const Rows& rows);

/// y[g] = sum of x[i] over the rows i of group g: [rows, w] -> [groups, w]. The gradient is the gather.
torch::Tensor segment_sum(const torch::Tensor& x, const Rows& rows);

/// Log-softmax of x [rows] within each group; safe for any finite x (the group's maximum is subtracted).
torch::Tensor segment_log_softmax(const torch::Tensor& x, const Rows& rows);

}
