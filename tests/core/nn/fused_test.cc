// Each instruction set's kernels against the plain ones.
#include "core/nn/internal/fused.h"

#include <gtest/gtest.h>

namespace regraft::nn::internal {
namespace {

TEST(Fused, EveryInstructionSetHasTheSameWidths) {
  for (const std::size_t width : {8, 16, 24, 32, 64, 128}) {
    const bool made = width == 16 || width == 32 || width == 64;
    EXPECT_EQ(fused_forward_base(width) != nullptr, made) << width;
#if defined(__x86_64__)
    EXPECT_EQ(fused_forward_avx2(width) != nullptr, made) << width;
    EXPECT_EQ(fused_forward_avx512(width) != nullptr, made) << width;
#endif
  }
}

}  // namespace
}  // namespace regraft::nn::internal
