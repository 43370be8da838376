// LibTorch's own kernels against the oracle's rows, with random attributes.
#include "core/exec/torch/torch_kernels.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/rng.h"
#include "core/exec/torch/device_under_test.h"

namespace regraft::exec {
namespace {

using graph::Attr;
using graph::AttrBlock;
using K = graph::OpKind;
using graph::Ints;

constexpr std::uint64_t kSeed = 7;
constexpr int kDraws = 40;
constexpr double kTolerance = 2e-5;  // of the largest value

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}
Ints several(Rng& rng, std::size_t count, std::int64_t low, std::int64_t high) {
  Ints values(count);
  for (std::int64_t& value : values) value = between(rng, low, high);
  return values;
}
at::Tensor normal(Rng& rng, const Ints& sizes) {
  at::Tensor tensor = at::empty(sizes, at::kDouble);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<double>()[i] = static_cast<float>(rng.normal());
  return tensor;
}

/// An op with its operands in the oracle's types.
struct Drawn {
  K kind;
  AttrBlock attrs;
  std::vector<at::Tensor> inputs;
};

void expect_agreement(const Drawn& drawn, const std::string& device) {
  const at::Tensor expected = torch_row(drawn.kind)({drawn.kind, drawn.attrs, drawn.inputs})[0];
  const double tolerance = device == "cuda" ? testing::kTf32Tolerance : kTolerance;
  std::vector<at::Tensor> inputs, on_device;
  for (const at::Tensor& input : drawn.inputs) {
    inputs.push_back(input.defined() && input.is_floating_point() ? input.to(at::kFloat) : input);
    on_device.push_back(input.defined() ? inputs.back().to(at::Device(device)) : input);
  }
  for (const bool known : {false, true}) {
    const std::span<const at::Tensor> on_cpu =
        known ? std::span<const at::Tensor>(inputs) : std::span<const at::Tensor>();
    const at::Tensor got = torch_kernel(drawn.kind)({drawn.kind, drawn.attrs, on_device, on_cpu})[0];
    ASSERT_EQ(got.sizes(), expected.sizes());
    if (expected.numel() == 0) continue;
    const double error = (got.to(at::kCPU, at::kDouble) - expected).abs().max().item<double>();
    EXPECT_LE(error, tolerance * std::max(1.0, expected.abs().max().item<double>()));
  }
}

/// Sizes, strides, pads (the same on both sides half of the time) and dilations of windows.
AttrBlock window(Rng& rng, std::size_t rank, bool dilated) {
  const Ints kernel = several(rng, rank, 1, 3);
  Ints pads;
  for (const std::int64_t size : kernel) pads.push_back(between(rng, 0, size - 1));
  const Ints begin = pads;
  const bool same = rng.below(2) == 0;
  for (std::size_t i = 0; i < rank; ++i) pads.push_back(same ? begin[i] : between(rng, 0, kernel[i] - 1));
  return {{Attr::kernel_shape, kernel},
          {Attr::strides, several(rng, rank, 1, 3)},
          {Attr::pads, pads},
          {Attr::dilations, dilated ? several(rng, rank, 1, 2) : Ints(rank, 1)}};
}

Ints image(Rng& rng, std::size_t rank, std::int64_t channels) {
  Ints sizes = several(rng, rank, 7, 12);
  sizes.insert(sizes.begin(), {between(rng, 1, 2), channels});
  return sizes;
}

Drawn conv(Rng& rng) {
  const std::size_t rank = 1 + rng.below(3);
  AttrBlock attrs = window(rng, rank, true);
  const std::int64_t groups = between(rng, 1, 3);
  attrs.set(Attr::group, groups);
  Ints weight = attrs.ints(Attr::kernel_shape);
  weight.insert(weight.begin(), {2 * groups, 3});
  std::vector<at::Tensor> inputs{normal(rng, image(rng, rank, 3 * groups)), normal(rng, weight)};
  if (rng.below(2) == 0) inputs.push_back(normal(rng, {2 * groups}));
  return {K::conv, attrs, inputs};
}

Drawn conv_transpose(Rng& rng) {
  const std::size_t rank = 1 + rng.below(3);
  AttrBlock attrs = window(rng, rank, true);
  attrs.set(Attr::group, std::int64_t{2});
  Ints extra;
  for (const std::int64_t stride : attrs.ints(Attr::strides)) extra.push_back(between(rng, 0, stride - 1));
  attrs.set(Attr::output_padding, extra);
  Ints weight = attrs.ints(Attr::kernel_shape);
  weight.insert(weight.begin(), {4, 3});
  return {
      K::conv_transpose, attrs, {normal(rng, image(rng, rank, 4)), normal(rng, weight), normal(rng, {6})}};
}

Drawn max_pool(Rng& rng) {
  const std::size_t rank = 1 + rng.below(3);
  AttrBlock attrs = window(rng, rank, true);
  attrs.set(Attr::ceil_mode, between(rng, 0, 1));
  return {K::max_pool, attrs, {normal(rng, image(rng, rank, 2))}};
}

Drawn average_pool(Rng& rng) {
  const std::size_t rank = 1 + rng.below(3);
  AttrBlock attrs = window(rng, rank, false);
  attrs.set(Attr::ceil_mode, between(rng, 0, 1));
  attrs.set(Attr::count_include_pad, between(rng, 0, 1));
  return {K::average_pool, attrs, {normal(rng, image(rng, rank, 2))}};
}

Drawn batch_norm(Rng& rng) {
  const Ints sizes = image(rng, rng.below(4), 5);
  return {K::batch_norm,
          {{Attr::epsilon, 1e-3}},
          {normal(rng, sizes), normal(rng, {5}), normal(rng, {5}), normal(rng, {5}),
           normal(rng, {5}).abs() + 0.1}};
}

Drawn instance_norm(Rng& rng) {
  const Ints sizes = image(rng, 1 + rng.below(3), 5);
  return {
      K::instance_norm, {{Attr::epsilon, 1e-3}}, {normal(rng, sizes), normal(rng, {5}), normal(rng, {5})}};
}

Drawn layer_norm(Rng& rng) {
  const Ints sizes = several(rng, 3, 2, 6);
  const std::int64_t axis = between(rng, 0, 2);
  const Ints inner = rng.below(4) == 0 ? Ints{1} : Ints(sizes.begin() + axis, sizes.end());
  std::vector<at::Tensor> inputs{normal(rng, sizes), normal(rng, inner)};
  if (rng.below(2) == 0) inputs.push_back(normal(rng, inner));
  return {K::layer_norm, {{Attr::axis, axis}, {Attr::epsilon, 1e-4}}, inputs};
}

Drawn gemm(Rng& rng) {
  const std::int64_t m = between(rng, 1, 6), k = between(rng, 1, 6), n = between(rng, 2, 6);
  const std::int64_t trans_a = between(rng, 0, 1), trans_b = between(rng, 0, 1);
  std::vector<at::Tensor> inputs{normal(rng, trans_a != 0 ? Ints{k, m} : Ints{m, k}),
                                 normal(rng, trans_b != 0 ? Ints{n, k} : Ints{k, n})};
  const std::vector<Ints> added{{}, {1}, {n}, {m, 1}, {1, n}, {m, n}};
  if (rng.below(3) != 0) inputs.push_back(normal(rng, added[rng.below(added.size())]));
  return {K::gemm,
          {{Attr::trans_a, trans_a},
           {Attr::trans_b, trans_b},
           {Attr::alpha, rng.normal()},
           {Attr::beta, rng.normal()}},
          inputs};
}

Drawn matmul(Rng& rng) {
  const std::int64_t k = between(rng, 1, 6), batch = between(rng, 1, 2);
  at::Tensor a = normal(rng, {batch, between(rng, 1, 5), k});
  if (rng.below(2) == 0) a = a.transpose(0, 1);
  const std::vector<Ints> factors{{k, 3}, {k}, {4, 1, k, 3}};
  return {K::matmul, {}, {a, normal(rng, factors[rng.below(factors.size())])}};
}

Drawn prelu(Rng& rng) {
  const std::vector<Ints> slopes{{}, {1}, {4, 1, 1}, {1, 4, 1, 1}, {5}, {4, 3, 5}};
  return {K::prelu, {}, {normal(rng, {2, 4, 3, 5}), normal(rng, slopes[rng.below(slopes.size())])}};
}

Drawn activation(Rng& rng) {
  const at::Tensor x = normal(rng, {6, 5}) * 10;
  const double alpha = rng.below(2) == 0 ? 1.0 / 6 : 0.3;
  const std::vector<Drawn> ops{
      {K::leaky_relu, {{Attr::alpha, alpha}}, {x}},
      {K::elu, {{Attr::alpha, alpha}}, {x}},
      {K::hard_swish, {}, {x}},
      {K::hard_sigmoid, {{Attr::alpha, alpha}, {Attr::beta, 0.5}}, {x}},
      {K::softplus, {}, {x}},
      {K::clip, {{Attr::min, -1.0}, {Attr::max, 4.5}}, {x}},
      {K::clip, {{Attr::max, 4.5}}, {x}},
      {K::pow, {}, {x, at::full({}, between(rng, 2, 3), at::kDouble)}},
  };
  return ops[rng.below(ops.size())];
}

Drawn slice(Rng& rng) {
  Ints steps;
  for (int i = 0; i < 2; ++i) steps.push_back(rng.below(2) == 0 ? between(rng, 1, 3) : between(rng, -3, -1));
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  Ints ends = several(rng, 2, -9, 9);
  if (rng.below(3) == 0) ends[0] = steps[0] > 0 ? kFar : -kFar;
  return {K::slice,
          {{Attr::starts, several(rng, 2, -9, 9)},
           {Attr::ends, ends},
           {Attr::axes, Ints{2, 0}},
           {Attr::steps, steps}},
          {normal(rng, {7, 2, 6})}};
}

Drawn gather(Rng& rng) {
  const std::vector<Ints> forms{{}, {1}, {3}, {2, 2}};
  const Ints& form = forms[rng.below(forms.size())];
  const at::Tensor indices = at::empty(form, at::kLong);
  const std::int64_t low = rng.below(2) == 0 ? -5 : 0;
  for (std::int64_t i = 0; i < indices.numel(); ++i)
    indices.data_ptr<std::int64_t>()[i] = between(rng, low, 4);
  const std::int64_t axis = between(rng, 0, 1);
  return {K::gather, {{Attr::axis, axis}}, {normal(rng, {5, 5, 3}), indices}};
}

Drawn gather_elements(Rng& rng) {
  at::Tensor indices = at::empty({2, 3}, at::kInt);
  for (int i = 0; i < 6; ++i)
    indices.data_ptr<std::int32_t>()[i] = static_cast<std::int32_t>(between(rng, -4, 3));
  return {K::gather_elements, {{Attr::axis, std::int64_t{1}}}, {normal(rng, {2, 4}), indices.to(at::kLong)}};
}

Drawn expand(Rng& rng) {
  const std::vector<Ints> shapes{{3, 4}, {2, 1, 4}, {1}, {5, 3, 1}};
  return {K::expand, {{Attr::shape, shapes[rng.below(shapes.size())]}}, {normal(rng, {3, 1})}};
}

Drawn attention(Rng& rng) {
  const std::int64_t heads = between(rng, 1, 3), keys = between(rng, 1, 6), queries = between(rng, 1, 6);
  std::vector<at::Tensor> inputs{normal(rng, {2, queries, 4 * heads}), normal(rng, {2, keys, 4 * heads}),
                                 normal(rng, {2, keys, 5 * heads})};
  inputs.push_back(rng.below(2) == 0 ? at::Tensor() : normal(rng, {13 * heads}));
  inputs.emplace_back();
  if (rng.below(2) == 0)
    inputs.push_back(normal(rng, {rng.below(2) == 0 ? 1 : 2, rng.below(2) == 0 ? 1 : heads, queries, keys}));
  return {K::multi_head_attention, {{Attr::num_heads, heads}, {Attr::scale, rng.normal()}}, inputs};
}

struct KernelCase {
  const char* name;
  Drawn (*draw)(Rng& rng);
};

class TorchKernel : public ::testing::TestWithParam<KernelCase> {};

TEST_P(TorchKernel, ComputesWhatTheRowMeansOnTheDevice) {
  const std::string device = testing::device_under_test();
  Rng rng(kSeed, GetParam().name);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Drawn drawn = GetParam().draw(rng);
    std::string attrs;
    for (const auto& [attr, value] : drawn.attrs.entries())
      attrs += std::string(graph::attr_name(attr)) + "=" + graph::to_string(value) + " ";
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", draw " + std::to_string(draw) + ": " +
                 std::string(graph::op_info(drawn.kind).name) + " " + attrs);
    expect_agreement(drawn, device);
  }
}

TEST(TorchKernels, ClipOfIntegersStaysOneOfIntegers) {
  const std::vector<at::Tensor> x{at::arange(-3, 9, at::kLong)};
  AttrBlock bounds;
  bounds.set(Attr::min, -1.0);
  bounds.set(Attr::max, 4.0);
  const TorchCall call{K::clip, bounds, x};
  for (const at::Tensor& got : {torch_row(K::clip)(call)[0], torch_kernel(K::clip)(call)[0]}) {
    EXPECT_EQ(got.scalar_type(), at::kLong);
    EXPECT_TRUE(at::equal(got, at::clamp(x[0], -1, 4)));
  }
}

TEST(TorchKernels, ClipKeepsBoundsThatNoDoubleHolds) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1, kMost = std::numeric_limits<std::int64_t>::max();
  const at::Tensor numbers = at::tensor({std::int64_t{-7}, kOdd - 1, kOdd, kOdd + 1, kMost});
  for (const std::int64_t high : {kOdd, kMost}) {
    const std::vector<at::Tensor> inputs{numbers, at::scalar_tensor(0, at::kLong),
                                         at::scalar_tensor(high, at::kLong)};
    const AttrBlock none;
    const TorchCall call{K::clip, none, inputs};
    for (const at::Tensor& got : {torch_row(K::clip)(call)[0], torch_kernel(K::clip)(call)[0]})
      EXPECT_TRUE(at::equal(got, at::clamp(numbers, 0, high))) << high;
  }
  AttrBlock bounds;
  bounds.set(Attr::max, 1e300);
  const std::vector<at::Tensor> inputs{numbers};
  EXPECT_TRUE(at::equal(torch_row(K::clip)({K::clip, bounds, inputs})[0], numbers));
}

INSTANTIATE_TEST_SUITE_P(
    All, TorchKernel,
    ::testing::Values(KernelCase{"conv", conv}, KernelCase{"conv_transpose", conv_transpose},
                      KernelCase{"max_pool", max_pool}, KernelCase{"average_pool", average_pool},
                      KernelCase{"batch_norm", batch_norm}, KernelCase{"instance_norm", instance_norm},
                      KernelCase{"layer_norm", layer_norm}, KernelCase{"matmul", matmul},
                      KernelCase{"gemm", gemm}, KernelCase{"prelu", prelu},
                      KernelCase{"activation", activation}, KernelCase{"slice", slice},
                      KernelCase{"gather", gather}, KernelCase{"gather_elements", gather_elements},
                      KernelCase{"expand", expand}, KernelCase{"attention", attention}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}
