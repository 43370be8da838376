#pragma once

// Internal to core/exec: the windows of convolutions and pools.

#include <torch/types.h>

#include <cstdint>

#include "core/graph/attributes.h"

namespace regraft::exec {

/// The attributes of a window, by spatial dim; ONNX's `pads` are all begins, then all ends.
struct TorchWindow {
  graph::Ints kernel, strides, begin, end, dilations;

  explicit TorchWindow(const graph::AttrBlock& attrs);
  /// The input's elements from the first one of a window to its last.
  std::int64_t reach(std::size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};

/// x [n, c, spatial...] with so many elements `value` before and behind each spatial dim; negative: fewer.
at::Tensor pad_spatial(const at::Tensor& x, const graph::Ints& begin, const graph::Ints& end, double value);

}
