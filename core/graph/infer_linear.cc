#include <algorithm>
#include <map>

#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

void require_equal(const Tables& tables, const OpInfo& op, Dim a, Dim b, const char* what) {
  if (a == b || is_symbol(a) || is_symbol(b)) return;
  fail(op, std::string(what) + " differ: " + dim_text(tables, a) + " and " + dim_text(tables, b));
}

/// Output size of a sliding window along one dim (ONNX Conv, MaxPool).
Dim window_dim(Tables& tables, const OpInfo& op, Dim in, std::int64_t kernel, std::int64_t stride, Wide pad,
               std::int64_t dilation, bool ceil_mode, std::int64_t pad_begin) {
  if (stride <= 0 || dilation <= 0 || kernel <= 0) fail(op, "kernel, strides and dilations must be positive");
  const Wide reach = Wide{dilation} * (kernel - 1) + 1;
  if (is_symbol(in)) {
    if (stride == 1 && pad == reach - 1) return in;
    return derived_dim(tables, "((" + dim_text(tables, in) + "+" + std::to_string(narrow(op, pad - reach)) +
                                   ")/" + std::to_string(stride) + (ceil_mode ? "^" : "") + "+1)");
  }
  const Wide room = in + pad - reach;
  if (room < 0) fail(op, "the kernel is larger than the padded input");
  Wide out = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (out - 1) * stride >= Wide{in} + pad_begin) --out;  // the last window must start inside
  return narrow(op, out);
}

Dims spatial_dims(Tables& tables, const OpInfo& op, const AttrBlock& attrs, const Dims& in) {
  const std::size_t n = in.size() - 2;
  const Ints &kernel = attrs.ints(Attr::kernel_shape), &strides = attrs.ints(Attr::strides),
             &pads = attrs.ints(Attr::pads);
  const Ints* const dilations = attrs.has(Attr::dilations) ? &attrs.ints(Attr::dilations) : nullptr;
  const bool dilated = dilations != nullptr;
  if (kernel.size() != n || strides.size() != n || pads.size() != 2 * n ||
      (dilated && dilations->size() != n))
    fail(op, "kernel_shape, strides, pads or dilations do not fit rank " + std::to_string(in.size()));
  const bool ceil_mode = attrs.has(Attr::ceil_mode) && attrs.integer(Attr::ceil_mode) != 0;
  Dims out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(window_dim(tables, op, in[i + 2], kernel[i], strides[i], Wide{pads[i]} + pads[i + n],
                             dilated ? (*dilations)[i] : 1, ceil_mode, pads[i]));
  return out;
}

}  // namespace

TypeList infer_matmul(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  const TensorType a = operand_type(tables, operands, 0), b = operand_type(tables, operands, 1);
  if (a.dtype != b.dtype) fail(op, "mixes element types");
  if (!a.ranked || !b.ranked) return unranked(tables, a.dtype);
  if (a.rank() == 0 || b.rank() == 0) fail(op, "takes no scalars");
  const Dim inner_a = a.dims.back(), inner_b = b.rank() == 1 ? b.dims[0] : b.dims[b.rank() - 2];
  require_equal(tables, op, inner_a, inner_b, "inner dims");
  const std::size_t batch_a = a.rank() < 2 ? 0 : a.rank() - 2, batch_b = b.rank() < 2 ? 0 : b.rank() - 2;
  Dims dims = broadcast(tables, op, {a.dims.data(), batch_a}, {b.dims.data(), batch_b});
  if (a.rank() > 1) dims.push_back(a.dims[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b.dims.back());
  return one_type(tables, a.dtype, dims);
}

TypeList infer_einsum(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType a = operand_type(tables, operands, 0), b = operand_type(tables, operands, 1);
  if (a.dtype != b.dtype) fail(op, "mixes element types");
  if (!a.ranked || !b.ranked) return unranked(tables, a.dtype);
  constexpr std::int64_t kLetters = 26;
  const Ints& labels = attrs.ints(Attr::equation);
  if (labels.size() < a.rank() + b.rank()) fail(op, "the equation does not fit the operands");
  std::map<std::int64_t, Dim> by_label;
  Dims dims;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool first = i < a.rank(), output = i >= a.rank() + b.rank();
    const bool named = labels[i] >= 0 && labels[i] < kLetters && Wide{labels[i]} < Wide{std::ssize(labels)};
    if (!named) fail(op, "a label is no letter");
    const auto held = by_label.find(labels[i]);
    if (output && held == by_label.end()) fail(op, "no operand has a label of the output");
    if (output) {
      dims.push_back(held->second);
      continue;
    }
    const Dim dim = first ? a.dims[i] : b.dims[i - a.rank()];
    if (held == by_label.end())
      by_label.emplace(labels[i], dim);
    else
      require_equal(tables, op, held->second, dim, "dims of one label");
  }
  return one_type(tables, a.dtype, dims);
}

TypeList infer_recurrence(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  constexpr std::size_t kBias = 3, kLengths = 4;
  const bool lstm = op.kind == OpKind::lstm;
  const std::int64_t gates = lstm ? 4 : 3;
  const TensorType x = operand_type(tables, operands, 0), w = operand_type(tables, operands, 1),
                   r = operand_type(tables, operands, 2);
  const auto require = [&](std::size_t i, const Dims& dims, const char* what) {
    if (!has_operand(operands, i)) return;
    const TensorType& type = operand_type(tables, operands, i);
    if (type.dtype != x.dtype) fail(op, "mixes element types");
    if (!type.ranked) return;
    if (type.rank() != dims.size()) fail(op, std::string(what) + " of another rank");
    for (std::size_t d = 0; d < dims.size(); ++d) require_equal(tables, op, type.dims[d], dims[d], what);
  };
  if (has_operand(operands, kLengths)) fail(op, "has lengths of sequences, which no rule knows");
  if (!x.ranked || x.rank() != 3 || !w.ranked || w.rank() != 3 || !r.ranked || r.rank() != 3)
    fail(op, "takes tensors of three dims");
  const Dim hidden = r.dims[2];
  if (is_symbol(hidden) || hidden < 1) fail(op, "the hidden size is not known");
  const Dim rows = narrow(op, Wide{gates} * hidden), both = narrow(op, Wide{2} * rows);
  require(1, {1, rows, x.dims[2]}, "dims of the weights");
  require(2, {1, rows, hidden}, "dims of the recurrent weights");
  require(kBias, {1, both}, "dims of the bias");
  const Dims state{1, x.dims[1], hidden};
  for (std::size_t i = kLengths + 1; i < operands.size(); ++i) require(i, state, "dims of a state");
  const TypeId last = one_type(tables, x.dtype, state)[0];
  TypeList types = one_type(tables, x.dtype, Dims{x.dims[0], 1, x.dims[1], hidden});
  types.push_back(last);
  if (lstm) types.push_back(last);
  return types;
}

TypeList infer_gemm(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType a = operand_type(tables, operands, 0), b = operand_type(tables, operands, 1);
  if (a.dtype != b.dtype) fail(op, "mixes element types");
  if (!a.ranked || !b.ranked) return unranked(tables, a.dtype);
  if (a.rank() != 2 || b.rank() != 2) fail(op, "takes matrices");
  const bool trans_a = attrs.integer(Attr::trans_a) != 0, trans_b = attrs.integer(Attr::trans_b) != 0;
  require_equal(tables, op, a.dims[trans_a ? 0 : 1], b.dims[trans_b ? 1 : 0], "inner dims");
  const Dims dims{a.dims[trans_a ? 1 : 0], b.dims[trans_b ? 0 : 1]};
  if (has_operand(operands, 2)) {
    const TensorType c = operand_type(tables, operands, 2);
    if (c.ranked && broadcast(tables, op, dims, c.dims) != dims) fail(op, "C is larger than A B");
  }
  return one_type(tables, a.dtype, dims);
}

TypeList infer_conv(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0), w = operand_type(tables, operands, 1);
  if (x.dtype != w.dtype) fail(op, "mixes element types");
  if (!x.ranked || !w.ranked) return unranked(tables, x.dtype);
  if (x.rank() < 3 || w.rank() != x.rank()) fail(op, "ranks of input and weight do not fit");
  const std::int64_t group = attrs.integer(Attr::group);
  if (group <= 0) fail(op, "group must be positive");
  if (!is_symbol(w.dims[1]))
    require_equal(tables, op, x.dims[1], narrow(op, Wide{w.dims[1]} * group), "channels of input and weight");
  if (!is_symbol(w.dims[0]) && w.dims[0] % group != 0) fail(op, "group does not divide the output channels");
  if (has_operand(operands, 2)) {
    const TensorType bias = operand_type(tables, operands, 2);
    if (bias.ranked && bias.rank() != 1) fail(op, "the bias is no vector");
    if (bias.ranked) require_equal(tables, op, bias.dims[0], w.dims[0], "bias and output channels");
  }
  const Ints& kernel = attrs.ints(Attr::kernel_shape);
  for (std::size_t i = 0; i < kernel.size() && i + 2 < w.rank(); ++i)
    require_equal(tables, op, w.dims[i + 2], kernel[i], "kernel_shape and weight");
  Dims dims{x.dims[0], w.dims[0]};
  for (const Dim dim : spatial_dims(tables, op, attrs, x.dims)) dims.push_back(dim);
  return one_type(tables, x.dtype, dims);
}

TypeList infer_conv_transpose(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0), w = operand_type(tables, operands, 1);
  if (!x.ranked || !w.ranked) return unranked(tables, x.dtype);
  if (x.rank() < 3 || w.rank() != x.rank()) fail(op, "ranks of input and weight do not fit");
  const std::size_t n = x.rank() - 2;
  const Ints &kernel = attrs.ints(Attr::kernel_shape), &strides = attrs.ints(Attr::strides),
             &pads = attrs.ints(Attr::pads), &dilations = attrs.ints(Attr::dilations);
  const Ints extra = attrs.has(Attr::output_padding) ? attrs.ints(Attr::output_padding) : Ints(n, 0);
  if (kernel.size() != n || strides.size() != n || pads.size() != 2 * n || dilations.size() != n ||
      extra.size() != n)
    fail(op, "attributes do not fit rank " + std::to_string(x.rank()));
  if (is_symbol(w.dims[1])) return unranked(tables, x.dtype);
  Dims dims{x.dims[0], narrow(op, Wide{w.dims[1]} * attrs.integer(Attr::group))};
  for (std::size_t i = 0; i < n; ++i) {
    if (kernel[i] <= 0 || strides[i] <= 0 || dilations[i] <= 0)
      fail(op, "kernel, strides and dilations must be positive");
    const Dim in = x.dims[i + 2];
    const Wide fixed = Wide{extra[i]} + Wide{kernel[i] - 1} * dilations[i] + 1 - pads[i] - pads[i + n];
    if (is_symbol(in)) {
      dims.push_back(derived_dim(tables, "((" + dim_text(tables, in) + "-1)*" + std::to_string(strides[i]) +
                                             "+" + std::to_string(narrow(op, fixed)) + ")"));
      continue;
    }
    const Wide size = Wide{in - 1} * strides[i] + fixed;
    if (size < 0) fail(op, "pads take more than there is");
    dims.push_back(narrow(op, size));
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_pool(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  if (x.rank() < 3) fail(op, "takes batch, channels and at least one spatial dim");
  Dims dims{x.dims[0], x.dims[1]};
  for (const Dim dim : spatial_dims(tables, op, attrs, x.dims)) dims.push_back(dim);
  return one_type(tables, x.dtype, dims);
}

TypeList infer_global_pool(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  if (x.rank() < 3) fail(op, "takes batch, channels and at least one spatial dim");
  Dims dims = x.dims;
  std::fill(dims.begin() + 2, dims.end(), 1);
  return one_type(tables, x.dtype, dims);
}

TypeList infer_batch_norm(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  const TensorType& x = operand_type(tables, operands, 0);
  if (x.ranked && x.rank() < 2) fail(op, "takes batch and channels");
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const TensorType& parameter = operand_type(tables, operands, i);
    if (!x.ranked || !parameter.ranked) continue;
    if (parameter.rank() != 1) fail(op, "parameters must be vectors");
    require_equal(tables, op, parameter.dims[0], x.dims[1], "parameters and channels");
  }
  return TypeList{operands[0].type};
}

TypeList infer_layer_norm(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0), scale = operand_type(tables, operands, 1);
  if (x.ranked && scale.ranked) {
    const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
    const Dims normalised{std::span<const Dim>(x.dims.data() + axis, x.rank() - axis)};
    if (broadcast(tables, op, normalised, scale.dims) != normalised)
      fail(op, "the scale does not fit the input");
    if (has_operand(operands, 2) && operand_type(tables, operands, 2).ranked) {
      const Dims shifted = broadcast(tables, op, normalised, operand_type(tables, operands, 2).dims);
      bool fits = shifted.size() == normalised.size();
      for (std::size_t i = 0; i < normalised.size() && fits; ++i)
        fits = is_symbol(normalised[i]) || shifted[i] == normalised[i];
      if (!fits) fail(op, "the bias does not fit the input");
    }
  }
  return TypeList{operands[0].type};
}

TypeList infer_reduce(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked || !attrs.has(Attr::axes)) return unranked(tables, x.dtype);
  const Ints& axes = attrs.ints(Attr::axes);
  const bool keep = attrs.integer(Attr::keepdims) != 0;
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced) dims.push_back(x.dims[i]);
    if (reduced && keep) dims.push_back(1);
  }
  (void)op;
  return one_type(tables, x.dtype, dims);
}

}
