#include "core/cost/kernel_features.h"

#include <gtest/gtest.h>

namespace regraft::cost {
namespace {

using graph::OpKind;

TEST(KernelFeatures, TheNameOfAnOpIsReadAgain) {
  EXPECT_EQ(KernelFeatures{.kind = OpKind::conv}.op_name(), "Conv");
  const KernelFeatures opaque{.op = "com.microsoft.Some"};
  EXPECT_EQ(opaque.op_name(), "Opaque com.microsoft.Some");
  EXPECT_EQ(KernelFeatures::of_op(opaque.op_name()), opaque);
  EXPECT_EQ(KernelFeatures::of_op("Conv")->kind, OpKind::conv);
  EXPECT_EQ(KernelFeatures::of_op("Opaque"), KernelFeatures{});
  EXPECT_FALSE(KernelFeatures::of_op("Convolve"));
}

TEST(KernelFeatures, AKindIsOfOpFormAndType) {
  KernelFeatures features{.kind = OpKind::conv};
  EXPECT_EQ(features.kernel_kind(), "Conv float32");
  features.form = KernelForm::grouped_blocked;
  features.dtype = graph::DType::float16;
  EXPECT_EQ(features.kernel_kind(), "Conv grouped_blocked float16");
  EXPECT_EQ(KernelFeatures{.op = "LSTM"}.kernel_kind(), "Opaque LSTM float32");
}

}  // namespace
}
