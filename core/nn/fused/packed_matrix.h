#pragma once

#include <cstddef>

#include "core/nn/fused/aligned_floats.h"
#include "core/nn/fused/dream_kernels.h"

namespace regraft::nn::internal {

/// `count` rounded up to whole units.
constexpr std::size_t padded(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

/// Columns of a matrix as DreamProduct reads them.
struct PackedMatrix {
  AlignedFloats weight, start;
  std::size_t depth = 0, panels = 0;

  std::size_t columns(const DreamKernels& kernels) const { return panels * kernels.panel; }
  /// `columns` empty panels' worth; `depth` rows.
  void reset(std::size_t rows, std::size_t columns, const DreamKernels& kernels);
  void set(std::size_t row, std::size_t column, float value, const DreamKernels& kernels);
};

}
