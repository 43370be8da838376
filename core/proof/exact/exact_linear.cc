#include <array>
#include <utility>

#include "core/graph/op.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Ints;
using graph::OpKind;

const ExactTensor* operand(ExactInputs inputs, std::size_t i) {
  return inputs.size() > i ? inputs[i] : nullptr;
}

// One operand of a product at an output index: of more than one dim, its own batch dims are repeated.
Ints batched(const ExactTensor& t, const Ints& out, std::size_t out_kept) {
  const std::size_t batch = t.dims.size() - 2;
  Ints index(t.dims.size(), 0);
  for (std::size_t d = 0; d < batch; ++d) {
    index[d] = t.dims[d] == 1 ? 0 : out[out.size() - out_kept - batch + d];
  }
  return index;
}

Exact matmul_at(const ExactTensor& a, const ExactTensor& b, const Ints& out) {
  const bool row = a.dims.size() > 1, column = b.dims.size() > 1;
  const std::size_t kept = (row ? 1u : 0u) + (column ? 1u : 0u);
  Ints ia = row ? batched(a, out, kept) : Ints{0};
  Ints ib = column ? batched(b, out, kept) : Ints{0};
  if (row) ia[ia.size() - 2] = out[out.size() - kept];
  if (column) ib.back() = out.back();
  std::int64_t& k = ib[column ? ib.size() - 2 : 0];
  Exact sum;
  for (; k < a.dims.back(); ++k) {
    ia.back() = k;
    sum = sum + a.at(ia) * b.at(ib);
  }
  return sum;
}

// A scale or a zero point: one for all, or one for each place along an axis.
const Exact& parameter(const ExactTensor& t, const AttrBlock& attrs, const Ints& at) {
  if (t.values.size() == 1) return t.values[0];
  return t.values[static_cast<std::size_t>(at[static_cast<std::size_t>(attrs.integer(Attr::axis))])];
}

// Halves to even; what does not fit into a byte is the nearest one.
Exact quantized_at(const AttrBlock& attrs, ExactInputs in, const Ints& at) {
  const Exact least =
      Exact::of(attrs.integer(Attr::to) == static_cast<std::int64_t>(graph::DType::int8) ? -128.0 : 0.0);
  Exact y = exact_function(OpKind::round, in[0]->at(at) / parameter(*in[1], attrs, at));
  if (const ExactTensor* zero = operand(in, 2)) y = y + parameter(*zero, attrs, at);
  return smaller(larger(y, least), least + Exact::of(255.0));
}

Exact dequantized_at(const AttrBlock& attrs, ExactInputs in, const Ints& at) {
  Exact x = in[0]->at(at);
  if (const ExactTensor* zero = operand(in, 2)) x = x - parameter(*zero, attrs, at);
  return x * parameter(*in[1], attrs, at);
}

Exact gemm_at(const AttrBlock& attrs, ExactInputs in, const Ints& out) {
  const bool ta = attrs.integer(Attr::trans_a) != 0, tb = attrs.integer(Attr::trans_b) != 0;
  Exact sum;
  for (std::int64_t k = 0; k < in[0]->dims[ta ? 0 : 1]; ++k) {
    const Ints ia = ta ? Ints{k, out[0]} : Ints{out[0], k}, ib = tb ? Ints{out[1], k} : Ints{k, out[1]};
    sum = sum + in[0]->at(ia) * in[1]->at(ib);
  }
  sum = sum * Exact::of(attrs.real(Attr::alpha));
  const ExactTensor* c = operand(in, 2);
  return c ? sum + Exact::of(attrs.real(Attr::beta)) * c->broadcast_at(out) : sum;
}

// A sum over all that the labels can be.
ExactTensor einsum(const AttrBlock& attrs, ExactInputs in, ExactTensor out) {
  const Ints& labels = attrs.ints(Attr::equation);
  const std::array<const ExactTensor*, 3> tensors{in[0], in[1], &out};
  if (in[0]->values.empty() || in[1]->values.empty()) return out;
  Ints sizes(labels.size(), 1), at(labels.size(), 0);  // by label
  auto label = labels.begin();
  for (const ExactTensor* tensor : tensors)
    for (const std::int64_t dim : tensor->dims) sizes[static_cast<std::size_t>(*label++)] = dim;
  do {
    std::array<Ints, 3> index;
    label = labels.begin();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (std::size_t d = 0; d < tensors[i]->dims.size(); ++d)
        index[i].push_back(at[static_cast<std::size_t>(*label++)]);
    Exact& sum = out.values[out.flat(index[2])];
    sum = sum + in[0]->at(index[0]) * in[1]->at(index[1]);
  } while (next_index(at, sizes));
  return out;
}

Exact conv_at(const AttrBlock& attrs, ExactInputs in, const Ints& out) {
  const ExactTensor &x = *in[0], &w = *in[1];
  const Ints &stride = attrs.ints(Attr::strides), &pads = attrs.ints(Attr::pads),
             &dilation = attrs.ints(Attr::dilations);
  const std::int64_t outputs_a_group = w.dims[0] / attrs.integer(Attr::group);
  const ExactTensor* bias = operand(in, 2);
  Exact sum = bias ? bias->values[static_cast<std::size_t>(out[1])] : Exact{};
  if (w.values.empty()) return sum;  // a sum over no channels
  const Ints window(w.dims.begin() + 1, w.dims.end());
  Ints tap(window.size(), 0);
  do {
    Ints ix = {out[0], out[1] / outputs_a_group * w.dims[1] + tap[0]}, iw = {out[1]};
    bool inside = true;
    for (std::size_t d = 1; d < tap.size(); ++d) {
      ix.push_back(out[d + 1] * stride[d - 1] + tap[d] * dilation[d - 1] - pads[d - 1]);
      inside = inside && ix.back() >= 0 && ix.back() < x.dims[d + 1];
    }
    iw.insert(iw.end(), tap.begin(), tap.end());
    if (inside) sum = sum + x.at(ix) * w.at(iw);
  } while (next_index(tap, window));
  return sum;
}

}  // namespace

ExactTensor exact_linear(OpKind kind, const AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  if (out.values.empty()) return out;
  if (kind == OpKind::einsum) return einsum(attrs, inputs, std::move(out));
  Ints index(out.dims.size(), 0);
  std::size_t i = 0;
  do {
    out.values[i++] = kind == OpKind::matmul              ? matmul_at(*inputs[0], *inputs[1], index)
                      : kind == OpKind::gemm              ? gemm_at(attrs, inputs, index)
                      : kind == OpKind::quantize_linear   ? quantized_at(attrs, inputs, index)
                      : kind == OpKind::dequantize_linear ? dequantized_at(attrs, inputs, index)
                                                          : conv_at(attrs, inputs, index);
  } while (next_index(index, out.dims));
  return out;
}

}
