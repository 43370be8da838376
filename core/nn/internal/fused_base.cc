#include "core/nn/internal/fused.h"

#define REGRAFT_LANES 4
#define REGRAFT_ACCUMULATORS 8
#define REGRAFT_OUTER_ACCUMULATORS 8

namespace regraft::nn::internal {
namespace {
namespace base {
#include "core/nn/internal/fused_body.h"
#include "core/nn/internal/fused_body_backward.h"
}  // namespace base
}  // namespace

FusedKernels fused_kernels_base(std::size_t width) {
  return base::select(width);
}

}  // namespace regraft::nn::internal
