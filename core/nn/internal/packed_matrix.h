#pragma once

#include <cstddef>
#include <vector>

#include "core/nn/internal/dream_kernels.h"

namespace regraft::nn::internal {

/// Floats that begin at a cache line: vectors of weights then never straddle two.
class AlignedFloats {
 public:
  void assign(std::size_t count);  // of zeros
  float* data() { return begin_; }
  const float* data() const { return begin_; }
  std::size_t size() const { return count_; }

 private:
  std::vector<float> held_;
  float* begin_ = nullptr;
  std::size_t count_ = 0;
};

/// Columns of a matrix as DreamProduct reads them.
struct PackedMatrix {
  AlignedFloats weight, start;
  std::size_t depth = 0, panels = 0;

  std::size_t columns(const DreamKernels& kernels) const { return panels * kernels.panel; }
  /// `columns` empty panels' worth; `depth` rows.
  void reset(std::size_t rows, std::size_t columns, const DreamKernels& kernels);
  void set(std::size_t row, std::size_t column, float value, const DreamKernels& kernels);
};

}  // namespace regraft::nn::internal
