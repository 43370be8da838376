#include "core/nn/fused/dream_kernels.h"
#include "core/nn/fused/fused.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")
#endif
#define REGRAFT_LANES 16
#define REGRAFT_ACCUMULATORS 16
#define REGRAFT_OUTER_ACCUMULATORS 24
#define REGRAFT_DREAM_ROWS 6

namespace regraft::nn::internal {
namespace {
namespace avx512 {
#include "core/nn/fused/fused_body.h"
#include "core/nn/fused/fused_body_backward.h"

#include "core/nn/fused/dream_body.h"
}
}  // namespace

FusedKernels fused_kernels_avx512(std::size_t width) {
  return avx512::select(width);
}
DreamKernels dream_kernels_avx512() {
  return avx512::dream_kernels();
}

}
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
namespace regraft::nn::internal {
FusedKernels fused_kernels_avx512(std::size_t) {
  return {nullptr, nullptr};
}
DreamKernels dream_kernels_avx512() {
  return {};
}
}
#endif
