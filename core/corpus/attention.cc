#include "core/corpus/attention.h"

#include <cmath>

#include "core/corpus/basic_ops.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

/// [batch, tokens, heads * width] to [batch, heads, tokens, width].
Tensor split_heads(Net& net, const Tensor& x, std::int64_t heads) {
  return transpose(net, reshape(net, x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

/// Queries, keys and values by one linear layer, as in timm and GPT-2.
std::vector<Tensor> joint_projection(Net& net, const Tensor& x, const Attention& spec) {
  const std::int64_t batch = x.dim(0), tokens = x.dim(1), width = x.dim(2);
  const Tensor joint = linear(net, x, 3 * width, spec.projection_bias);
  if (net.dialect().is(Exporter::torch_script)) {
    std::vector<Tensor> parts = chunk(net, joint, 2, 3);
    for (Tensor& part : parts) part = split_heads(net, part, spec.heads);
    return parts;
  }
  const Tensor heads = transpose(net, reshape(net, joint, {batch, tokens, 3, spec.heads, width / spec.heads}),
                                 {2, 0, 3, 1, 4});
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < 3; ++i) parts.push_back(select(net, heads, 0, i));
  return parts;
}

std::vector<Tensor> projections(Net& net, const Tensor& x, const Attention& spec) {
  const std::int64_t head_width = x.dim(2) / spec.heads;
  std::vector<Tensor> parts;
  for (const std::int64_t heads : {spec.heads, spec.kv_heads, spec.kv_heads})
    parts.push_back(split_heads(net, linear(net, x, heads * head_width, spec.projection_bias), heads));
  return parts;
}

/// x * cos + rotated(x) * sin, where the second half, negated, comes before the first.
Tensor rotate(Net& net, const Tensor& x, const Attention& spec) {
  const std::int64_t width = x.dim(-1), half = width / 2;
  Tensor first, second;
  if (net.dialect().is(Exporter::tensorflow)) {
    const std::vector<Tensor> halves = chunk(net, x, 3, 2);
    first = halves[0];
    second = halves[1];
  } else {
    first = slice(net, x, 3, 0, half);
    second = slice(net, x, 3, half, width);
  }
  const Tensor straight = mul(net, x, spec.cosines);
  const Tensor rotated = concat(net, {unary(net, "Neg", second), first}, 3);
  return add(net, straight, mul(net, rotated, spec.sines));
}

/// Each head of keys or values for a group of query heads.
Tensor repeat_heads(Net& net, const Tensor& x, std::int64_t heads) {
  const std::int64_t groups = heads / x.dim(1);
  if (groups == 1) return x;
  const Ints dims = {x.dim(0), x.dim(1), groups, x.dim(2), x.dim(3)};
  return reshape(net, expand(net, unsqueeze(net, x, 2), dims), {x.dim(0), heads, x.dim(2), x.dim(3)});
}

Tensor scores(Net& net, Tensor queries, Tensor keys) {
  const double scale = 1 / std::sqrt(static_cast<double>(queries.dim(-1)));
  keys = transpose(net, keys, {0, 1, 3, 2});
  if (net.dialect().fused_attention) {  // PyTorch's own function scales both
    queries = binary(net, "Mul", queries, std::sqrt(scale));
    return matmul(net, queries, binary(net, "Mul", keys, std::sqrt(scale)));
  }
  if (net.dialect().is(Exporter::paddle)) return matmul(net, binary(net, "Mul", queries, scale), keys);
  const Tensor products = matmul(net, queries, keys);
  return net.dialect().is(Exporter::tensorflow) ? binary(net, "Mul", products, scale)
                                                : binary(net, "Div", products, 1 / scale);
}

}  // namespace

Tensor attend(Net& net, const Tensor& x, const Attention& given) {
  Attention spec = given;
  if (spec.kv_heads == 0) spec.kv_heads = spec.heads;
  const bool joint = net.dialect().fused_attention && spec.kv_heads == spec.heads;
  std::vector<Tensor> parts = joint ? joint_projection(net, x, spec) : projections(net, x, spec);
  if (!spec.cosines.name.empty()) {
    parts[0] = rotate(net, parts[0], spec);
    parts[1] = rotate(net, parts[1], spec);
  }
  if (!spec.past_keys.name.empty()) {
    parts[1] = concat(net, {spec.past_keys, parts[1]}, 2);
    parts[2] = concat(net, {spec.past_values, parts[2]}, 2);
  }
  if (spec.outputs_present) {
    net.output(parts[1]);
    net.output(parts[2]);
  }
  const Tensor keys = repeat_heads(net, parts[1], spec.heads);
  Tensor products = scores(net, parts[0], keys);
  if (!spec.bias.name.empty()) products = add(net, products, spec.bias);
  const Tensor values = repeat_heads(net, parts[2], spec.heads);
  const Tensor mixed = matmul(net, softmax(net, products), values);
  const Tensor joined = reshape(net, transpose(net, mixed, {0, 2, 1, 3}), x.dims);
  return linear(net, joined, x.dim(2), spec.projection_bias);
}

Tensor causal_mask(Net& net, std::int64_t tokens, std::int64_t past) {
  constexpr float kHidden = -1e4F;
  std::vector<float> values;
  for (std::int64_t row = 0; row < tokens; ++row)
    for (std::int64_t column = 0; column < past + tokens; ++column)
      values.push_back(column <= past + row ? 0 : kHidden);
  return net.table({1, 1, tokens, past + tokens}, std::move(values));
}

Tensor rotary_table(Net& net, std::int64_t first, std::int64_t tokens, std::int64_t width, bool sines) {
  constexpr double kBase = 10000;
  std::vector<double> frequencies;
  for (std::int64_t column = 0; column < width; ++column)
    frequencies.push_back(
        std::pow(kBase, -2.0 * static_cast<double>(column % (width / 2)) / static_cast<double>(width)));
  std::vector<float> values;
  for (std::int64_t row = first; row < first + tokens; ++row) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(row) * frequency;
      values.push_back(static_cast<float>(sines ? std::sin(angle) : std::cos(angle)));
    }
  }
  return net.table({tokens, width}, std::move(values));
}

}
