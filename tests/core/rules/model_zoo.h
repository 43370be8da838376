#pragma once

#include <vector>

#include "core/rules/graph_builder.h"

namespace regraft::rules::testing {

/// A recurrent cell over `steps` rows of one input with `gates` gates: Add(MatMul(x[t], Wg), MatMul(h, Ug))
/// and an activation each.
inline void recurrent(GraphBuilder& b, int steps, int gates, std::int64_t width) {
  const Value x = b.input({steps, 1, width});
  Value h = b.input({1, width});
  std::vector<Value> w, u;
  for (int g = 0; g < gates; ++g) {
    w.push_back(b.weight({width, width}));
    u.push_back(b.weight({width, width}));
  }
  for (int t = 0; t < steps; ++t) {
    const Value row = b.op(OpKind::gather, {x, b.integer(t)}, {{Attr::axis, std::int64_t{0}}});
    Value sum;
    for (int g = 0; g < gates; ++g) {
      const auto i = static_cast<std::size_t>(g);
      const Value gate =
          b.op(OpKind::add, {b.op(OpKind::matmul, {row, w[i]}), b.op(OpKind::matmul, {h, u[i]})});
      const Value active = b.op(g % 2 == 0 ? OpKind::sigmoid : OpKind::tanh, {gate});
      sum = g == 0 ? active : b.op(OpKind::add, {sum, active});
    }
    h = b.op(OpKind::tanh, {sum});
  }
  b.output(h);
}

/// An encoder layer as exporters write it (batch 1): attention with one fused projection, taken apart by
/// Reshape, Transpose and Gather, a perceptron with Gelu in the unfused order, and at the end only the first
/// token.
inline void encoder(GraphBuilder& b, std::int64_t tokens, std::int64_t heads, std::int64_t head_width) {
  const std::int64_t width = heads * head_width;
  const Value x = b.input({1, tokens, width});
  const auto norm = [&](Value v) {
    return b.op(OpKind::layer_norm, {v, b.weight({width}), b.weight({width})},
                {{Attr::axis, std::int64_t{-1}}, {Attr::epsilon, 1e-5}});
  };
  const auto linear = [&](Value v, std::int64_t in, std::int64_t out) {
    return b.op(OpKind::add, {b.op(OpKind::matmul, {v, b.weight({in, out})}), b.weight({out})});
  };
  const auto reshape = [&](Value v, graph::Ints dims) {
    return b.op(OpKind::reshape, {v}, {{Attr::shape, dims}});
  };
  const auto transpose = [&](Value v, graph::Ints perm) {
    return b.op(OpKind::transpose, {v}, {{Attr::perm, perm}});
  };
  Value qkv = linear(transpose(norm(x), {1, 0, 2}), width, 3 * width);
  qkv = transpose(
      b.op(OpKind::unsqueeze, {reshape(qkv, {tokens, 1, 3, width})}, {{Attr::axes, graph::Ints{0}}}),
      {3, 1, 2, 0, 4});
  qkv = b.op(OpKind::squeeze, {qkv}, {{Attr::axes, graph::Ints{3}}});
  std::vector<Value> parts;
  for (int i = 0; i < 3; ++i) {
    const Value part = b.op(OpKind::gather, {qkv, b.integer(i)}, {{Attr::axis, std::int64_t{0}}});
    parts.push_back(reshape(transpose(reshape(part, {tokens, heads, head_width}), {1, 0, 2}),
                            {1, heads, tokens, head_width}));
  }
  const Value q = b.op(OpKind::mul, {parts[0], b.scalar(0.5)});
  const Value k = b.op(OpKind::mul, {transpose(parts[1], {0, 1, 3, 2}), b.scalar(0.25)});
  const Value p = b.op(OpKind::softmax, {b.op(OpKind::matmul, {q, k})}, {{Attr::axis, std::int64_t{-1}}});
  Value y = reshape(transpose(b.op(OpKind::matmul, {p, parts[2]}), {2, 0, 1, 3}), {tokens, width});
  y = b.op(OpKind::gemm, {y, b.weight({width, width}), b.weight({width})},
           {{Attr::trans_b, std::int64_t{1}}});
  y = b.op(OpKind::add, {transpose(reshape(y, {tokens, 1, width}), {1, 0, 2}), x});
  const Value h = linear(norm(y), width, 4 * width);
  const Value erf = b.op(OpKind::erf, {b.op(OpKind::div, {h, b.scalar(1.4142135)})});
  const Value gelu =
      b.op(OpKind::mul, {h, b.op(OpKind::mul, {b.scalar(0.5), b.op(OpKind::add, {erf, b.scalar(1)})})});
  y = b.op(OpKind::add, {y, linear(gelu, 4 * width, width)});
  const Value token = b.op(OpKind::gather, {norm(y), b.integer(0)}, {{Attr::axis, std::int64_t{1}}});
  b.output(
      b.op(OpKind::gemm, {token, b.weight({3, width}), b.weight({3})}, {{Attr::trans_b, std::int64_t{1}}}));
}

/// Parallel convolutions with normalisation, a grouped one, pooling and a concatenation.
inline void convolutions(GraphBuilder& b) {
  const Value x = b.input({1, 4, 6, 6});
  const auto conv = [&](Value v, std::int64_t in, std::int64_t out, std::int64_t k, std::int64_t group) {
    const Value w = b.weight({out, in / group, k, k});
    const Value y = b.op(OpKind::conv, {v, w}, {{Attr::pads, graph::Ints(4, k / 2)}, {Attr::group, group}});
    return b.op(OpKind::relu,
                {b.op(OpKind::batch_norm,
                      {y, b.weight({out}, 0.5, 1), b.weight({out}), b.weight({out}), b.weight({out}, 0.5, 1)},
                      {{Attr::epsilon, 1e-3}})});
  };
  const graph::AttrBlock window{{Attr::kernel_shape, graph::Ints{3, 3}},
                                {Attr::pads, graph::Ints{1, 1, 1, 1}},
                                {Attr::strides, graph::Ints{1, 1}}};
  graph::AttrBlock average = window;
  average.set(Attr::count_include_pad, std::int64_t{1});
  const Value a = conv(x, 4, 4, 1, 1), c = conv(conv(x, 4, 4, 1, 1), 4, 8, 3, 4);
  const Value d = conv(b.op(OpKind::average_pool, {x}, average), 4, 4, 1, 1);
  const Value joined = b.op(OpKind::concat, {a, c, d}, {{Attr::axis, std::int64_t{1}}});
  const Value pooled = b.op(OpKind::max_pool, {joined}, window);
  const Value y = b.op(OpKind::global_average_pool, {conv(pooled, 16, 4, 1, 1)});
  b.output(
      b.op(OpKind::gemm, {b.op(OpKind::flatten, {y}, {{Attr::axis, std::int64_t{1}}}), b.weight({4, 3})}));
}

}
