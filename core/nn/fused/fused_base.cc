#include "core/nn/fused/dream_kernels.h"
#include "core/nn/fused/fused.h"

#define REGRAFT_LANES 4
#define REGRAFT_ACCUMULATORS 8
#define REGRAFT_OUTER_ACCUMULATORS 8
#define REGRAFT_DREAM_ROWS 2

namespace regraft::nn::internal {
namespace {
namespace base {
#include "core/nn/fused/fused_body.h"
#include "core/nn/fused/fused_body_backward.h"

#include "core/nn/fused/dream_body.h"
}
}  // namespace

FusedKernels fused_kernels_base(std::size_t width) {
  return base::select(width);
}
DreamKernels dream_kernels_base() {
  return base::dream_kernels();
}

}
