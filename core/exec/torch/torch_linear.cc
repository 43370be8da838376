#include <limits>
#include <numeric>

#include "core/exec/torch/torch_ops.h"
#include "core/exec/torch/torch_window.h"
#include "core/graph/einsum_products.h"

namespace regraft::exec {
namespace {

using at::Tensor;
using graph::Attr;
using K = graph::OpKind;
using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

/// A vector along an axis, shaped to broadcast against x; one number as it is.
Tensor along(const Tensor& parameter, const Tensor& x, std::int64_t axis) {
  if (parameter.numel() == 1) return parameter.reshape(Ints{});
  Ints shape(static_cast<std::size_t>(x.dim()), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  return parameter.reshape(shape);
}

Tensors matmul(const TorchCall& call) {
  return {at::matmul(call.input(0), call.input(1))};
}

/// Halves to even, as many bytes as there are.
Tensors quantize(const TorchCall& call) {
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  const Tensor x = call.input(0).to(at::kDouble);
  Tensor y = at::round(x / along(call.input(1).to(at::kDouble), x, axis));
  if (call.has_input(2)) y = y + along(call.input(2).to(at::kDouble), x, axis);
  const auto bytes = static_cast<graph::DType>(call.attrs.integer(Attr::to));
  const double least = bytes == graph::DType::int8 ? -128 : 0;
  return {at::clamp(y, least, least + 255).to(oracle_type(bytes))};
}

/// In double, which holds what a zero point is taken from.
Tensors dequantize(const TorchCall& call) {
  const std::int64_t axis = call.attrs.integer(Attr::axis);
  Tensor x = call.input(0).to(at::kDouble);
  if (call.has_input(2)) x = x - along(call.input(2).to(at::kDouble), x, axis);
  return {(x * along(call.input(1).to(at::kDouble), x, axis)).to(call.input(1).scalar_type())};
}

Tensors gemm(const TorchCall& call) {
  const bool trans_a = call.attrs.integer(Attr::trans_a) != 0,
             trans_b = call.attrs.integer(Attr::trans_b) != 0;
  const Tensor a = trans_a ? call.input(0).t() : call.input(0);
  const Tensor b = trans_b ? call.input(1).t() : call.input(1);
  const auto scaled = [&](const Tensor& x, Attr factor) {
    const double by = call.attrs.real(factor);
    return by == 1 ? x : (x * by).to(x.scalar_type());  // integers stay integers
  };
  Tensor product = scaled(at::matmul(a, b), Attr::alpha);
  if (call.has_input(2)) product = product + scaled(call.input(2), Attr::beta);
  return {product};
}

Tensors einsum(const TorchCall& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  return {
      at::einsum(graph::einsum_equation(call.attrs.ints(Attr::equation), static_cast<std::size_t>(a.dim()),
                                        static_cast<std::size_t>(b.dim())),
                 {a, b})};
}

Tensors conv(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  const Tensor x = pad_spatial(call.input(0), window.begin, window.end, 0);
  const Ints none(window.kernel.size(), 0);
  return {at::convolution(
      x, call.input(1), call.has_input(2) ? std::optional<Tensor>(call.input(2)) : std::nullopt,
      window.strides, none, window.dilations, false, none, call.attrs.integer(Attr::group))};
}

Tensors conv_transpose(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  const Ints none(window.kernel.size(), 0);
  Tensor y = at::convolution(call.input(0), call.input(1), std::nullopt, window.strides, none,
                             window.dilations, true, none, call.attrs.integer(Attr::group));
  const Ints extra = call.attrs.has(Attr::output_padding) ? call.attrs.ints(Attr::output_padding) : none;
  Ints begin, end;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    begin.push_back(-window.begin[i]);
    end.push_back(extra[i] - window.end[i]);
  }
  y = pad_spatial(y, begin, end, 0);
  if (!call.has_input(2)) return {y};
  Ints shape(static_cast<std::size_t>(y.dim()), 1);
  shape[1] = -1;
  return {y + call.input(2).reshape(shape)};
}

/// A vector over channels, shaped to broadcast against x.
Tensor per_channel(const Tensor& parameter, const Tensor& x) {
  return along(parameter, x, 1);
}

Tensors batch_norm(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const Tensor deviation = at::sqrt(per_channel(call.input(4), x) + call.attrs.real(Attr::epsilon));
  const Tensor normal = (x - per_channel(call.input(3), x)) / deviation;
  return {normal * per_channel(call.input(1), x) + per_channel(call.input(2), x)};
}

/// (x - mean) / sqrt(variance + epsilon) over the dims from `first` on.
Tensor standardise(const Tensor& x, std::int64_t first, double epsilon) {
  Ints dims(static_cast<std::size_t>(x.dim() - first));
  std::iota(dims.begin(), dims.end(), first);
  const Tensor centred = x - x.mean(dims, true);
  return centred / at::sqrt((centred * centred).mean(dims, true) + epsilon);
}

Tensors layer_norm(const TorchCall& call) {
  const Tensor normal =
      standardise(call.input(0), call.attrs.integer(Attr::axis), call.attrs.real(Attr::epsilon)) *
      call.input(1);
  return {call.has_input(2) ? normal + call.input(2) : normal};
}

Tensors instance_norm(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const Tensor normal = standardise(x, 2, call.attrs.real(Attr::epsilon));
  return {normal * per_channel(call.input(1), x) + per_channel(call.input(2), x)};
}

/// MultiHeadAttention of com.microsoft: heads are slices of the last dim.
Tensors attention(const TorchCall& call) {
  const std::int64_t heads = call.attrs.integer(Attr::num_heads), width = call.input(0).size(2);
  std::int64_t first = 0;  // of an operand's part of the bias
  const auto by_head = [&](std::size_t i) {
    Tensor x = call.input(i);
    if (call.has_input(3)) x = x + call.input(3).slice(0, first, first + x.size(2));
    first += width;
    return x.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  };
  const Tensor q = by_head(0), k = by_head(1), v = by_head(2);
  Tensor scores = at::matmul(q, k.transpose(2, 3)) * call.attrs.real(Attr::scale);
  if (call.has_input(5)) scores = scores + call.input(5);
  const Tensor mixed = at::matmul(at::softmax(scores, 3), v);
  return {mixed.transpose(1, 2).flatten(2)};
}

/// One forward pass over rows in time order, gates as ONNX has them: i o f c of an LSTM, z r h of a GRU,
/// whose reset comes behind its product.
Tensors recurrence(const TorchCall& call) {
  const bool lstm = call.kind == K::lstm;
  const std::int64_t gates = lstm ? 4 : 3;
  const Tensor &x = call.input(0), w = call.input(1).squeeze(0), r = call.input(2).squeeze(0);
  const auto given = [&](std::size_t i, const Ints& dims) {
    return call.has_input(i) ? call.input(i).squeeze(0) : at::zeros(dims, x.options());
  };
  const Ints state{x.size(1), r.size(1)};
  const std::vector<Tensor> bias = given(3, {2 * w.size(0)}).chunk(2, 0);
  Tensor h = given(5, state), c = lstm ? given(6, state) : h;
  Tensors rows;
  for (std::int64_t t = 0; t < x.size(0); ++t) {
    const Tensors of_x = (at::matmul(x.select(0, t), w.t()) + bias[0]).chunk(gates, 1);
    const Tensors of_h = (at::matmul(h, r.t()) + bias[1]).chunk(gates, 1);
    const auto gate = [&](std::size_t i) { return at::sigmoid(of_x[i] + of_h[i]); };
    if (lstm) {
      c = gate(2) * c + gate(0) * at::tanh(of_x[3] + of_h[3]);
      h = gate(1) * at::tanh(c);
    } else {
      const Tensor kept = gate(0);
      h = (1 - kept) * at::tanh(of_x[2] + gate(1) * of_h[2]) + kept * h;
    }
    rows.push_back(h);
  }
  const Tensor y =
      rows.empty() ? at::zeros({0, 1, state[0], state[1]}, x.options()) : at::stack(rows, 0).unsqueeze(1);
  return lstm ? Tensors{y, h.unsqueeze(0), c.unsqueeze(0)} : Tensors{y, h.unsqueeze(0)};
}

Tensors softmax(const TorchCall& call) {
  return {at::softmax(call.input(0), call.attrs.integer(Attr::axis))};
}
Tensors log_softmax(const TorchCall& call) {
  return {at::log_softmax(call.input(0), call.attrs.integer(Attr::axis))};
}

/// The dims that a reduction runs over; all where none is named.
Ints reduced_dims(const TorchCall& call) {
  Ints dims = call.ints(Attr::axes, 1).value_or(Ints{});
  if (!dims.empty()) return dims;
  dims.resize(static_cast<std::size_t>(call.input(0).dim()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Tensors reduce(const TorchCall& call) {
  const Tensor& x = call.input(0);
  const Ints dims = reduced_dims(call);
  const bool keep = call.attrs.integer(Attr::keepdims) != 0;
  switch (call.kind) {
    case K::reduce_mean:
      return {at::mean(x, dims, keep)};
    case K::reduce_sum:
      return {at::sum(x, dims, keep)};
    case K::reduce_max:
      return {at::amax(x, dims, keep)};
    default:
      return {at::amin(x, dims, keep)};
  }
}

/// Number of windows along a dim of size `in` (ONNX MaxPool; with ceil_mode the last one must start inside).
std::int64_t window_count(const TorchWindow& window, std::size_t i, std::int64_t in, bool ceil_mode) {
  const std::int64_t room = in + window.begin[i] + window.end[i] - window.reach(i);
  const std::int64_t count = (room + (ceil_mode ? window.strides[i] - 1 : 0)) / window.strides[i] + 1;
  return ceil_mode && (count - 1) * window.strides[i] >= in + window.begin[i] ? count - 1 : count;
}

/// All windows of x [n, c, spatial...] as [n, c, counts..., kernel...]; what lies beyond the padding is
/// `beyond`.
Tensor windows_of(Tensor x, const TorchWindow& window, const Ints& sizes, bool ceil_mode, double beyond) {
  const std::size_t rank = window.kernel.size();
  Ints counts(rank), none(rank, 0), missing(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    counts[i] = window_count(window, i, sizes[i], ceil_mode);
    const std::int64_t wanted = (counts[i] - 1) * window.strides[i] + window.reach(i);
    missing[i] = wanted - (sizes[i] + window.begin[i] + window.end[i]);
  }
  x = pad_spatial(x, none, missing, beyond);  // negative where the last elements are in no window
  for (std::size_t i = 0; i < rank; ++i) {
    x = x.unfold(static_cast<std::int64_t>(i) + 2, window.reach(i), window.strides[i])
            .slice(-1, 0, window.reach(i), window.dilations[i]);
  }
  return x;
}

Ints kernel_dims(const TorchWindow& window, const Tensor& windows) {
  Ints dims(window.kernel.size());
  std::iota(dims.begin(), dims.end(), windows.dim() - static_cast<std::int64_t>(dims.size()));
  return dims;
}

Tensors max_pool(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  const Tensor& x = call.input(0);
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const Tensor padded = pad_spatial(x, window.begin, window.end, kLowest);
  const Tensor windows =
      windows_of(padded, window, x.sizes().slice(2).vec(), call.attrs.integer(Attr::ceil_mode) != 0, kLowest);
  return {windows.amax(kernel_dims(window, windows))};
}

/// Divides by the elements of a window that lie in the input, or in its padding too; never by those beyond.
Tensors average_pool(const TorchCall& call) {
  const TorchWindow window(call.attrs);
  const Tensor& x = call.input(0);
  const Ints sizes = x.sizes().slice(2).vec();
  const bool ceil_mode = call.attrs.integer(Attr::ceil_mode) != 0;
  const double padding_counts = call.attrs.integer(Attr::count_include_pad) != 0 ? 1 : 0;
  const Tensor counted = pad_spatial(at::ones_like(x), window.begin, window.end, padding_counts);
  const Tensor windows = windows_of(pad_spatial(x, window.begin, window.end, 0), window, sizes, ceil_mode, 0);
  const Ints dims = kernel_dims(window, windows);
  return {windows.sum(dims) / windows_of(counted, window, sizes, ceil_mode, 0).sum(dims)};
}

Ints spatial_dims(const Tensor& x) {
  Ints dims(static_cast<std::size_t>(x.dim() - 2));
  std::iota(dims.begin(), dims.end(), 2);
  return dims;
}

Tensors global_average_pool(const TorchCall& call) {
  return {call.input(0).mean(spatial_dims(call.input(0)), true)};
}
Tensors global_max_pool(const TorchCall& call) {
  return {call.input(0).amax(spatial_dims(call.input(0)), true)};
}

}  // namespace

TorchRow linear_row(K kind) {
  switch (kind) {
    case K::matmul:
      return matmul;
    case K::quantize_linear:
      return quantize;
    case K::dequantize_linear:
      return dequantize;
    case K::einsum:
      return einsum;
    case K::lstm:
    case K::gru:
      return recurrence;
    case K::gemm:
      return gemm;
    case K::conv:
      return conv;
    case K::conv_transpose:
      return conv_transpose;
    case K::batch_norm:
      return batch_norm;
    case K::layer_norm:
      return layer_norm;
    case K::instance_norm:
      return instance_norm;
    case K::multi_head_attention:
      return attention;
    case K::softmax:
      return softmax;
    case K::log_softmax:
      return log_softmax;
    case K::reduce_mean:
    case K::reduce_sum:
    case K::reduce_max:
    case K::reduce_min:
      return reduce;
    case K::max_pool:
      return max_pool;
    case K::average_pool:
      return average_pool;
    case K::global_average_pool:
      return global_average_pool;
    case K::global_max_pool:
      return global_max_pool;
    default:
      return nullptr;
  }
}

}
