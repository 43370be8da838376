#include "core/nn/fused/packed_matrix.h"

namespace regraft::nn::internal {

DreamKernels best_dream_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return dream_kernels_avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dream_kernels_avx2();
#endif
  return dream_kernels_base();
}

void PackedMatrix::reset(std::size_t rows, std::size_t columns, const DreamKernels& kernels) {
  depth = rows;
  panels = (columns + kernels.panel - 1) / kernels.panel;
  weight.assign(panels * depth * kernels.panel, 0.0f);
  start.assign(panels * kernels.panel, 0.0f);
}

void PackedMatrix::set(std::size_t row, std::size_t column, float value, const DreamKernels& kernels) {
  const std::size_t panel = column / kernels.panel, within = column % kernels.panel;
  weight.data()[(panel * depth + row) * kernels.panel + within] = value;
}

}
