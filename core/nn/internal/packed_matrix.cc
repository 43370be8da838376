#include "core/nn/internal/packed_matrix.h"

#include <memory>

namespace regraft::nn::internal {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

}  // namespace

DreamKernels best_dream_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return dream_kernels_avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dream_kernels_avx2();
#endif
  return dream_kernels_base();
}

void AlignedFloats::assign(std::size_t count) {
  held_.assign(count + kLine / sizeof(float), 0.0f);
  void* begin = held_.data();
  std::size_t space = held_.size() * sizeof(float);
  begin_ = static_cast<float*>(std::align(kLine, count * sizeof(float), begin, space));
  count_ = count;
}

void PackedMatrix::reset(std::size_t rows, std::size_t columns, const DreamKernels& kernels) {
  depth = rows;
  panels = (columns + kernels.panel - 1) / kernels.panel;
  weight.assign(panels * depth * kernels.panel);
  start.assign(panels * kernels.panel);
}

void PackedMatrix::set(std::size_t row, std::size_t column, float value, const DreamKernels& kernels) {
  const std::size_t panel = column / kernels.panel, within = column % kernels.panel;
  weight.data()[(panel * depth + row) * kernels.panel + within] = value;
}

}  // namespace regraft::nn::internal
