// Ops that the runtime carries out in one way or another, by their attributes. The ratios are those that ONNX
// Runtime 1.31 takes on one core, roughly.
#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Attr;
using testing::AttrBlock;
using testing::Ints;
using testing::Net;
using testing::OpKind;

/// One op on one input, as a kernel.
PredictedKernel kernel(OpKind kind, const std::vector<graph::Dim>& dims, const AttrBlock& attrs) {
  Net net;
  net.output(net.op(kind, {net.input(dims)}, attrs));
  const graph::Bindings bindings;
  return AnalyticCost(testing::test_device(), bindings, net.graph).kernels().at(0);
}

void expect_ratio(const PredictedKernel& slow, const PredictedKernel& fast, double low, double high) {
  EXPECT_GT(slow.us, low * fast.us) << slow.us << " us, " << fast.us << " us";
  EXPECT_LT(slow.us, high * fast.us) << slow.us << " us, " << fast.us << " us";
}

PredictedKernel transpose(const std::vector<graph::Dim>& dims, const Ints& perm) {
  return kernel(OpKind::transpose, dims, {{Attr::perm, perm}});
}

TEST(ElementKernels, TransposesThatMoveOneAxisAreFastOthersGoElementByElement) {
  const std::vector<graph::Dim> dims{32, 32, 16, 16};
  const PredictedKernel one_axis = transpose(dims, {0, 2, 3, 1});
  EXPECT_EQ(one_axis.features.form, KernelForm::plain);
  for (const Ints& perm : {Ints{0, 3, 1, 2}, Ints{2, 3, 0, 1}, Ints{1, 2, 3, 0}})
    EXPECT_EQ(transpose(dims, perm).us, one_axis.us);
  for (const Ints& perm : {Ints{1, 0, 3, 2}, Ints{0, 3, 2, 1}, Ints{3, 2, 1, 0}, Ints{2, 3, 1, 0}}) {
    const PredictedKernel scattered = transpose(dims, perm);
    EXPECT_EQ(scattered.features.form, KernelForm::scattered);
    expect_ratio(scattered, one_axis, 5, 12);
  }
  EXPECT_LT(transpose(dims, {1, 0, 2, 3}).us, one_axis.us) << "in rows of 256";
  EXPECT_EQ(transpose({64, 1, 64, 64}, {0, 3, 2, 1}).features.form, KernelForm::scattered)
      << "a dim of 1 counts, unless all others stay in order";
  EXPECT_EQ(transpose({64, 1, 64, 1}, {2, 0, 1, 3}).features.form, KernelForm::plain);
}

TEST(ElementKernels, ASoftmaxOfAnotherAxisMovesItThereAndBack) {
  for (const OpKind kind : {OpKind::softmax, OpKind::log_softmax}) {
    const auto along = [&](std::int64_t axis) { return kernel(kind, {1, 64, 64, 64}, {{Attr::axis, axis}}); };
    EXPECT_EQ(along(3).features.form, KernelForm::plain);
    EXPECT_EQ(along(2).features.form, KernelForm::axis_moved);
    EXPECT_EQ(along(1).features.form, KernelForm::scattered);
    expect_ratio(along(2), along(3), 2, 5);
    expect_ratio(along(1), along(3), 15, 30);
  }
  const auto of_scores = kernel(OpKind::softmax, {64, 1000, 1, 1}, {{Attr::axis, std::int64_t{1}}});
  const auto of_rows = kernel(OpKind::softmax, {64, 1000}, {{Attr::axis, std::int64_t{1}}});
  expect_ratio(of_scores, of_rows, 1, 2.5);
}

TEST(ElementKernels, SlicesThatTakeStepsInRowsGoElementByElement) {
  const auto slice = [&](std::int64_t axis, std::int64_t step) {
    return kernel(OpKind::slice, {1, 64, 64, 64},
                  {{Attr::starts, Ints{0}},
                   {Attr::ends, Ints{64}},
                   {Attr::axes, Ints{axis}},
                   {Attr::steps, Ints{step}}});
  };
  EXPECT_EQ(slice(2, 2).features.form, KernelForm::plain);
  EXPECT_EQ(slice(3, 2).features.form, KernelForm::scattered);
  expect_ratio(slice(3, 2), slice(2, 2), 5, 20);
}

TEST(ElementKernels, PoolingAlongOneDimIsSlow) {
  const AttrBlock image{{Attr::kernel_shape, Ints{1, 3}}}, row{{Attr::kernel_shape, Ints{3}}};
  for (const OpKind kind : {OpKind::max_pool, OpKind::average_pool}) {
    const PredictedKernel one = kernel(kind, {1, 64, 4096}, row), two = kernel(kind, {1, 63, 1, 4096}, image);
    EXPECT_EQ(one.features.form, KernelForm::scattered);
    EXPECT_EQ(two.features.form, KernelForm::plain);
    expect_ratio(one, two, 10, 25);
  }
}

TEST(ElementKernels, LargestAndSmallestAcrossRowsAreSlowerThanSums) {
  const auto reduce = [&](OpKind kind, const std::vector<graph::Dim>& dims, std::int64_t axis) {
    return kernel(kind, dims, {{Attr::axes, Ints{axis}}, {Attr::keepdims, std::int64_t{1}}});
  };
  for (const OpKind kind : {OpKind::reduce_max, OpKind::reduce_min}) {
    EXPECT_EQ(reduce(kind, {8, 64, 512}, 2).us, reduce(OpKind::reduce_sum, {8, 64, 512}, 2).us);
    expect_ratio(reduce(kind, {8, 64, 512}, 1), reduce(OpKind::reduce_sum, {8, 64, 512}, 1), 3, 6);
    expect_ratio(reduce(kind, {64, 4096}, 0), reduce(OpKind::reduce_sum, {64, 4096}, 0), 6, 12);
  }
  expect_ratio(reduce(OpKind::reduce_mean, {1, 64, 4096}, 0), reduce(OpKind::reduce_mean, {64, 4096}, 0), 6,
               30);
}

TEST(ElementKernels, HardSwishOnItsOwnIsTwoKernels) {
  const PredictedKernel part = kernel(OpKind::hard_sigmoid, {64, 512}, {});
  EXPECT_NEAR(kernel(OpKind::hard_swish, {64, 512}, {}).us, 2 * part.us, 1e-3);
}

}  // namespace
}
