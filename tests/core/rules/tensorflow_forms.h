#pragma once

// What TensorFlow, Keras and their exporter write in parts.

#include "core/rules/graph_builder.h"

namespace regraft::rules::testing {

inline graph::Value mean_over(GraphBuilder& b, graph::Value x, std::int64_t axis) {
  return b.op(graph::OpKind::reduce_mean, {x},
              {{graph::Attr::axes, graph::Ints{axis}}, {graph::Attr::keepdims, std::int64_t{1}}});
}

/// 1 / sqrt(mean(x^2) + e) over axis `over`.
inline graph::Value inverse_root_mean_square(GraphBuilder& b, graph::Value x, std::int64_t over) {
  using graph::OpKind;
  const graph::Value square = mean_over(b, b.op(OpKind::mul, {x, x}), over);
  return b.op(OpKind::reciprocal, {b.op(OpKind::sqrt, {b.op(OpKind::add, {square, b.scalar(1e-3)})})});
}

/// x i + (b - m i) with i = s / sqrt(v + e), over axis `over`; s and b have `dims`. `negated`: b + (-m) i.
inline graph::Value norm_in_parts(GraphBuilder& b, graph::Value x, std::int64_t over, const graph::Ints& dims,
                                  bool negated = false) {
  using graph::OpKind;
  const graph::Value m = mean_over(b, x, over), d = b.op(OpKind::sub, {x, m});
  const graph::Value i = b.op(OpKind::mul, {inverse_root_mean_square(b, d, over), b.weight(dims)});
  const graph::Value shift = b.weight(dims);
  const graph::Value rest = negated
                                ? b.op(OpKind::add, {b.op(OpKind::mul, {b.op(OpKind::neg, {m}), i}), shift})
                                : b.op(OpKind::sub, {shift, b.op(OpKind::mul, {m, i})});
  return b.op(OpKind::add, {b.op(OpKind::mul, {x, i}), rest});
}

/// 1 + tanh(sqrt(2 / pi) (x + c x^3)), which times x is twice a Gelu. `scaled_cube` is c x^3; `one` is 1.
inline graph::Value tanh_gate(GraphBuilder& b, graph::Value x, graph::Value scaled_cube, graph::Value one) {
  using graph::OpKind;
  const graph::Value bent =
      b.op(OpKind::tanh, {b.op(OpKind::mul, {b.scalar(0.79788458), b.op(OpKind::add, {x, scaled_cube})})});
  return b.op(OpKind::add, {one, bent});
}

/// c x^3.
inline graph::Value scaled_cube(GraphBuilder& b, graph::Value x, double c) {
  using graph::OpKind;
  return b.op(OpKind::mul, {b.scalar(c), b.op(OpKind::pow, {x, b.scalar(3)})});
}

}
