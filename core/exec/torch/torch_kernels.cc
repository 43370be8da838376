#include "core/exec/torch/torch_kernels.h"

#include <ATen/ExpandUtils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/torch/torch_window.h"

namespace regraft::exec {
namespace {

using at::Tensor;
using graph::Attr;
using graph::DType;
using K = graph::OpKind;
using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

constexpr double kHardSigmoidSlope = 1.0 / 6, kSlopeRounding = 1e-6;  // of at::hardsigmoid
constexpr double kLinearFrom = 20;                                    // of at::softplus, as PyTorch calls it

/// What the oracle's row makes of it.
Tensors by_row(const TorchCall& call) {
  return torch_row(call.kind)(call);
}

std::optional<Tensor> optional_input(const TorchCall& call, std::size_t i) {
  return call.has_input(i) ? std::optional(call.input(i)) : std::nullopt;
}

Tensors conv(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  if (window.begin != window.end) return by_row(call);
  return {at::convolution(call.input(0), call.input(1), optional_input(call, 2), window.strides, window.begin,
                          window.dilations, false, Ints(window.kernel.size(), 0),
                          call.attrs.integer(Attr::group))};
}

Tensors conv_transpose(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  if (window.begin != window.end) return by_row(call);
  const Ints extra = call.attrs.has(Attr::output_padding) ? call.attrs.ints(Attr::output_padding)
                                                          : Ints(window.kernel.size(), 0);
  return {at::convolution(call.input(0), call.input(1), optional_input(call, 2), window.strides, window.begin,
                          window.dilations, true, extra, call.attrs.integer(Attr::group))};
}

Tensors batch_norm(const TorchCall& call) {
  return {at::batch_norm(call.input(0), call.input(1), call.input(2), call.input(3), call.input(4), false, 0,
                         call.attrs.real(Attr::epsilon), true)};
}

Tensors layer_norm(const TorchCall& call) {
  const at::IntArrayRef normal =
      call.input(0).sizes().slice(static_cast<std::size_t>(call.attrs.integer(Attr::axis)));
  if (call.input(1).sizes() != normal || (call.has_input(2) && call.input(2).sizes() != normal))
    return by_row(call);
  return {at::layer_norm(call.input(0), normal, call.input(1), optional_input(call, 2),
                         call.attrs.real(Attr::epsilon), true)};
}

Tensors instance_norm(const TorchCall& call) {
  return {at::instance_norm(call.input(0), call.input(1), call.input(2), std::nullopt, std::nullopt, true, 0,
                            call.attrs.real(Attr::epsilon), true)};
}

/// Whether LibTorch's pools take the window: at most half of it lies in the padding.
bool is_plain_pool(const TorchWindow& window) {
  bool plain = window.begin == window.end && window.kernel.size() <= 3;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) plain &= 2 * window.begin[i] <= window.kernel[i];
  return plain;
}

Tensors max_pool(const TorchCall& call) {
  constexpr std::array kPools{at::max_pool1d, at::max_pool2d, at::max_pool3d};  // by spatial rank
  const TorchWindow window(call.attrs);
  if (!is_plain_pool(window)) return by_row(call);
  return {kPools[window.kernel.size() - 1](call.input(0), window.kernel, window.strides, window.begin,
                                           window.dilations, call.attrs.integer(Attr::ceil_mode) != 0)};
}

Tensors average_pool(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  const bool ceil_mode = call.attrs.integer(Attr::ceil_mode) != 0,
             counted = call.attrs.integer(Attr::count_include_pad) != 0;
  if (!is_plain_pool(window) || window.kernel.size() != 2 || window.dilations != Ints{1, 1})
    return by_row(call);
  return {at::avg_pool2d(call.input(0), window.kernel, window.strides, window.begin, ceil_mode, counted, {})};
}

/// A matrix that all rows of the left operand are multiplied by: one product. at::matmul makes one of each
/// row where a dim of size 1 was moved.
Tensors matmul(const TorchCall& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (b.dim() != 2 || a.dim() < 3) return by_row(call);
  Ints sizes = a.sizes().vec();
  sizes.back() = b.size(1);
  return {at::mm(a.reshape({-1, b.size(0)}), b).reshape(sizes)};
}

Tensors gemm(const TorchCall& call) {
  if (!call.has_input(2) || !at::isFloatingType(call.input(0).scalar_type())) return by_row(call);
  const auto side = [&](std::size_t i, Attr transposed) {
    return call.attrs.integer(transposed) != 0 ? call.input(i).t() : call.input(i);
  };
  return {at::addmm(call.input(2), side(0, Attr::trans_a), side(1, Attr::trans_b),
                    call.attrs.real(Attr::beta), call.attrs.real(Attr::alpha))};
}

/// Blocks of LibTorch's attention scale scores as they take the largest one: factors above zero alone.
Tensors attention(const TorchCall& call) {
  const double scale = call.attrs.real(Attr::scale);
  if (scale <= 0) return by_row(call);
  const std::int64_t heads = call.attrs.integer(Attr::num_heads), width = call.input(0).size(2);
  const auto by_head = [&](std::size_t i) {
    Tensor x = call.input(i);
    const auto first = static_cast<std::int64_t>(i) * width;  // of its part of the bias
    if (call.has_input(3)) x = x + call.input(3).slice(0, first, first + x.size(2));
    return x.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  };
  const Tensor mixed = at::scaled_dot_product_attention(by_head(0), by_head(1), by_head(2),
                                                        optional_input(call, 5), 0, false, scale);
  return {mixed.transpose(1, 2).flatten(2)};
}

Tensors prelu(const TorchCall& call) {
  const Tensor &x = call.input(0), &slope = call.input(1);
  const bool by_channel = x.dim() >= 2 && slope.dim() == x.dim() - 1 && slope.size(0) == x.size(1);
  if (slope.numel() != 1 && !(by_channel && slope.numel() == slope.size(0))) return by_row(call);
  return {at::prelu(x, slope.flatten())};
}

Tensors leaky_relu(const TorchCall& call) {
  return {at::leaky_relu(call.input(0), call.attrs.real(Attr::alpha))};
}

Tensors elu(const TorchCall& call) {
  return {at::elu(call.input(0), call.attrs.real(Attr::alpha))};
}

Tensors hard_swish(const TorchCall& call) {
  return {at::hardswish(call.input(0))};
}

Tensors hard_sigmoid(const TorchCall& call) {
  const double off = std::abs(call.attrs.real(Attr::alpha) - kHardSigmoidSlope);
  if (off > kSlopeRounding || call.attrs.real(Attr::beta) != 0.5) return by_row(call);
  return {at::hardsigmoid(call.input(0))};
}

Tensors softplus(const TorchCall& call) {
  return {at::softplus(call.input(0), 1, kLinearFrom)};
}

Tensors clip(const TorchCall& call) {
  const auto low = call.bound(Attr::min, 1), high = call.bound(Attr::max, 2);
  return {low || high ? at::clamp(call.input(0), low, high) : call.input(0)};
}

/// An exponent that is a known number has faster kernels.
Tensors power(const TorchCall& call) {
  if (!call.is_known(1) || call.known[1].numel() != 1 ||
      call.input(0).scalar_type() != call.input(1).scalar_type() || call.input(1).dim() > call.input(0).dim())
    return by_row(call);
  return {at::pow(call.input(0), call.known[1].item())};
}

Tensors cast(const TorchCall& call) {
  return {call.input(0).to(torch_type(static_cast<DType>(call.attrs.integer(Attr::to))))};
}

/// A step of -2 picks as one of 2 from the last element that it picks, backwards.
Tensor backwards(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
                 std::int64_t stride) {
  const std::int64_t size = x.size(axis);
  start = std::clamp<std::int64_t>(start + (start < 0 ? size : 0), 0, size - 1);
  end = std::clamp<std::int64_t>(end + (end < 0 ? size : 0), -1, size - 1);
  if (start <= end) return x.slice(axis, 0, 0);
  const std::int64_t steps = (start - end - 1) / stride;
  return x.slice(axis, start - steps * stride, start + 1, stride).flip(axis);
}

Tensors slice(const TorchCall& call) {
  Tensor x = call.input(0);
  const auto starts = call.ints(Attr::starts, 1), ends = call.ints(Attr::ends, 2),
             axes = call.ints(Attr::axes, 3), steps = call.ints(Attr::steps, 4);
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i),
                       step = steps ? (*steps)[i] : 1;
    x = step > 0 ? x.slice(axis, (*starts)[i], (*ends)[i], step)
                 : backwards(x, axis, (*starts)[i], (*ends)[i], -step);
  }
  return {x};
}

/// Indices from the front: those that may count from the end, by one kernel.
Tensor indices_of(const TorchCall& call, std::int64_t size) {
  if (call.is_known(1) && std::ranges::all_of(call.values(1), [](std::int64_t i) { return i >= 0; }))
    return call.input(1);
  return at::remainder(call.input(1), size);
}

Tensors gather(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  if (call.is_known(1) && call.input(1).dim() == 0) return {x.select(axis, call.values(1)[0])};
  const Tensor indices = indices_of(call, x.size(axis));
  if (indices.dim() == 1) return {x.index_select(axis, indices)};
  Ints shape = x.sizes().slice(0, static_cast<std::size_t>(axis)).vec();
  shape.insert(shape.end(), indices.sizes().begin(), indices.sizes().end());
  shape.insert(shape.end(), x.sizes().begin() + axis + 1, x.sizes().end());
  return {x.index_select(axis, indices.flatten()).reshape(shape)};
}

Tensors gather_elements(const TorchCall& call) {
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  return {at::gather(call.input(0), axis, indices_of(call, call.input(0).size(axis)).to(at::kLong))};
}

Tensors expand(const TorchCall& call) {
  const Ints shape = call.ints(Attr::shape, 1).value();
  return {call.input(0).expand(at::infer_size(call.input(0).sizes(), shape))};
}

using Kernel = std::pair<K, TorchRow>;
constexpr std::array kKernels{
    Kernel{K::conv, conv},
    Kernel{K::conv_transpose, conv_transpose},
    Kernel{K::batch_norm, batch_norm},
    Kernel{K::layer_norm, layer_norm},
    Kernel{K::instance_norm, instance_norm},
    Kernel{K::max_pool, max_pool},
    Kernel{K::average_pool, average_pool},
    Kernel{K::matmul, matmul},
    Kernel{K::gemm, gemm},
    Kernel{K::multi_head_attention, attention},
    Kernel{K::prelu, prelu},
    Kernel{K::leaky_relu, leaky_relu},
    Kernel{K::elu, elu},
    Kernel{K::hard_swish, hard_swish},
    Kernel{K::hard_sigmoid, hard_sigmoid},
    Kernel{K::softplus, softplus},
    Kernel{K::clip, clip},
    Kernel{K::pow, power},
    Kernel{K::cast, cast},
    Kernel{K::slice, slice},
    Kernel{K::gather, gather},
    Kernel{K::gather_elements, gather_elements},
    Kernel{K::expand, expand},
};

constexpr std::array kTypes{
    std::pair{DType::float32, at::kFloat},  std::pair{DType::float16, at::kHalf},
    std::pair{DType::float64, at::kDouble}, std::pair{DType::bfloat16, at::kBFloat16},
    std::pair{DType::int8, at::kChar},      std::pair{DType::int16, at::kShort},
    std::pair{DType::int32, at::kInt},      std::pair{DType::int64, at::kLong},
    std::pair{DType::uint8, at::kByte},     std::pair{DType::uint16, at::kUInt16},
    std::pair{DType::uint32, at::kUInt32},  std::pair{DType::uint64, at::kUInt64},
    std::pair{DType::boolean, at::kBool},
};

}  // namespace

TorchRow torch_kernel(K kind) {
  const auto* const own = std::ranges::find(kKernels, kind, &Kernel::first);
  return own == kKernels.end() ? torch_row(kind) : own->second;
}

at::ScalarType torch_type(DType dtype) {
  for (const auto& [known, type] : kTypes)
    if (known == dtype) return type;
  throw ExecError("tensors of type " + graph::dtype_name(dtype) + " are not supported", "LibTorch", "");
}

}
