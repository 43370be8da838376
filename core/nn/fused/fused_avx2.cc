#include "core/nn/fused/dream_kernels.h"
#include "core/nn/fused/fused.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define REGRAFT_LANES 8
#define REGRAFT_ACCUMULATORS 12
#define REGRAFT_OUTER_ACCUMULATORS 8
#define REGRAFT_DREAM_ROWS 3

namespace regraft::nn::internal {
namespace {
namespace avx2 {
#include "core/nn/fused/fused_body.h"
#include "core/nn/fused/fused_body_backward.h"

#include "core/nn/fused/dream_body.h"
}
}  // namespace

FusedKernels fused_kernels_avx2(std::size_t width) {
  return avx2::select(width);
}
DreamKernels dream_kernels_avx2() {
  return avx2::dream_kernels();
}

}
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
namespace regraft::nn::internal {
FusedKernels fused_kernels_avx2(std::size_t) {
  return {nullptr, nullptr};
}
DreamKernels dream_kernels_avx2() {
  return {};
}
}
#endif
