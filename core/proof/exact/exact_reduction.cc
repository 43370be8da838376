#include <cmath>
#include <limits>
#include <optional>

#include "core/graph/op.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Ints;
using graph::OpKind;

ExactTensor batch_norm(const AttrBlock& attrs, ExactInputs in, ExactTensor out) {
  Ints index(out.dims.size(), 0);
  const Exact epsilon = Exact::of(attrs.real(Attr::epsilon));
  for (std::size_t i = 0; i < out.values.size(); ++i, next_index(index, out.dims)) {
    const auto c = static_cast<std::size_t>(index[1]);
    const Exact scale = in[1]->values[c] / exact_function(OpKind::sqrt, in[4]->values[c] + epsilon);
    out.values[i] = (in[0]->values[i] - in[3]->values[c]) * scale + in[2]->values[c];
  }
  return out;
}

// Over all dims from `axis` on, which lie together.
ExactTensor layer_norm(const AttrBlock& attrs, ExactInputs in, ExactTensor out) {
  std::size_t row = 1;
  for (auto d = static_cast<std::size_t>(attrs.integer(Attr::axis)); d < out.dims.size(); ++d)
    row *= static_cast<std::size_t>(out.dims[d]);
  const Exact count = Exact::of(static_cast<std::int64_t>(row));
  const std::vector<Exact>& x = in[0]->values;
  for (std::size_t first = 0; first < x.size(); first += row) {
    Exact mean, variance;
    for (std::size_t i = first; i < first + row; ++i) mean = mean + x[i];
    mean = mean / count;
    for (std::size_t i = first; i < first + row; ++i) variance = variance + (x[i] - mean) * (x[i] - mean);
    const Exact deviation =
        exact_function(OpKind::sqrt, variance / count + Exact::of(attrs.real(Attr::epsilon)));
    for (std::size_t i = first; i < first + row; ++i) out.values[i] = (x[i] - mean) / deviation;
  }
  Ints index(out.dims.size(), 0);
  for (std::size_t i = 0; i < out.values.size(); ++i, next_index(index, out.dims)) {
    out.values[i] = out.values[i] * in[1]->broadcast_at(index);
    if (in.size() > 2 && in[2]) out.values[i] = out.values[i] + in[2]->broadcast_at(index);
  }
  return out;
}

// exp(x - m) / sum exp(x - m), where m is the largest of a row: the same for all that differ by a constant;
// or its logarithm.
ExactTensor softmax(OpKind kind, const AttrBlock& attrs, ExactInputs in, ExactTensor out) {
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  Ints index(out.dims.size(), 0);
  for (std::size_t i = 0; i < out.values.size(); ++i, next_index(index, out.dims)) {
    Exact largest = in[0]->values[i], sum;
    Ints other = index;
    for (other[axis] = 0; other[axis] < out.dims[axis]; ++other[axis])
      largest = larger(largest, in[0]->at(other));
    const auto power = [&](const Exact& x) { return exact_function(OpKind::exp, x - largest); };
    for (other[axis] = 0; other[axis] < out.dims[axis]; ++other[axis]) sum = sum + power(in[0]->at(other));
    out.values[i] = power(in[0]->values[i]) / sum;
    if (kind == OpKind::log_softmax) out.values[i] = exact_function(OpKind::log, out.values[i]);
  }
  return out;
}

ExactTensor reduce(OpKind kind, const AttrBlock& attrs, const ExactTensor& x, ExactTensor out) {
  std::vector<bool> reduced(x.dims.size(), false);
  for (std::int64_t a : attrs.ints(Attr::axes)) reduced[static_cast<std::size_t>(a)] = true;
  std::vector<bool> seen(out.values.size(), false);
  Ints index(x.dims.size(), 0);
  for (const Exact& value : x.values) {
    std::size_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (!reduced[d]) at = at * static_cast<std::size_t>(x.dims[d]) + static_cast<std::size_t>(index[d]);
    }
    Exact& held = out.values[at];
    const bool sums = kind == OpKind::reduce_mean || kind == OpKind::reduce_sum;
    if (sums) {
      held = held + value;
    } else if (!seen[at] || (kind == OpKind::reduce_max ? less(held, value) : less(value, held))) {
      held = value;
    }
    seen[at] = true;
    next_index(index, x.dims);
  }
  if (kind != OpKind::reduce_mean || out.values.empty()) return out;
  const Exact count = Exact::of(static_cast<std::int64_t>(x.values.size() / out.values.size()));
  for (Exact& value : out.values) value = value / count;
  return out;
}

// One window: its largest element, or its average.
Exact window_at(OpKind kind, const AttrBlock& attrs, const ExactTensor& x, const Ints& out) {
  const Ints &size = attrs.ints(Attr::kernel_shape), &stride = attrs.ints(Attr::strides),
             &pads = attrs.ints(Attr::pads), &dilation = attrs.ints(Attr::dilations);
  const bool counts_padding = kind == OpKind::average_pool && attrs.integer(Attr::count_include_pad) != 0;
  std::optional<Exact> largest;
  Exact sum;
  std::int64_t count = 0;
  Ints tap(size.size(), 0);
  do {
    Ints index = {out[0], out[1]};
    bool inside = true, framed = true;
    for (std::size_t d = 0; d < tap.size(); ++d) {
      const std::int64_t i = out[d + 2] * stride[d] + tap[d] * dilation[d] - pads[d], dim = x.dims[d + 2];
      framed = framed && i < dim + pads[d + size.size()];
      inside = inside && i >= 0 && i < dim;
      index.push_back(i);
    }
    count += counts_padding ? framed : inside;
    if (!inside) continue;
    const Exact& value = x.at(index);
    largest = largest ? larger(*largest, value) : value;
    sum = sum + value;
  } while (next_index(tap, size));
  if (kind == OpKind::max_pool) return largest.value_or(Exact::of(-std::numeric_limits<double>::infinity()));
  return sum / Exact::of(std::max<std::int64_t>(1, count));
}

ExactTensor global_pool(OpKind kind, const ExactTensor& x, ExactTensor out) {
  const std::size_t row = x.values.size() / std::max<std::size_t>(1, out.values.size());
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    Exact sum = x.values[i * row], largest = sum;
    for (std::size_t k = 1; k < row; ++k) {
      sum = sum + x.values[i * row + k];
      largest = larger(largest, x.values[i * row + k]);
    }
    out.values[i] =
        kind == OpKind::global_max_pool ? largest : sum / Exact::of(static_cast<std::int64_t>(row));
  }
  return out;
}

}  // namespace

ExactTensor exact_normalisation(OpKind kind, const AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  if (out.values.empty()) return out;
  if (kind == OpKind::batch_norm) return batch_norm(attrs, inputs, std::move(out));
  return kind == OpKind::layer_norm ? layer_norm(attrs, inputs, std::move(out))
                                    : softmax(kind, attrs, inputs, std::move(out));
}

ExactTensor exact_reduction(OpKind kind, const AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  switch (kind) {
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
      return reduce(kind, attrs, *inputs[0], std::move(out));
    case OpKind::global_average_pool:
    case OpKind::global_max_pool:
      return global_pool(kind, *inputs[0], std::move(out));
    case OpKind::max_pool:
    case OpKind::average_pool: {
      Ints index(out.dims.size(), 0);
      for (std::size_t i = 0; i < out.values.size(); ++i, next_index(index, out.dims))
        out.values[i] = window_at(kind, attrs, *inputs[0], index);
      return out;
    }
    default:
      throw Undecided(std::string(graph::op_info(kind).name) + " is not known", "exact evaluation", "");
  }
}

}
