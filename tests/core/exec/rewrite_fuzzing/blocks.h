#pragma once

// Blocks of real models, as exporters write them: the places where rules apply.

#include "core/exec/rewrite_fuzzing/linear.h"

namespace regraft::exec::rewrite_fuzzing {

inline Val unary(Sketch& s, const std::string& op, const Val& x, double scale = 0) {
  Val out = like(x, scale);
  s.node(op, {x.name}, out);
  return out;
}

inline Val binary(Sketch& s, const std::string& op, const Val& x, const Val& y) {
  Val out{"", x.dtype, *broadcast_dims(x.dims, y.dims), x.scale + y.scale, false, false};
  if (op == "Mul") out.scale = x.scale * y.scale;
  s.node(op, {x.name, y.name}, out);
  return out;
}

inline Val with_scalar(Sketch& s, const std::string& op, const Val& x, double value) {
  Val out = like(x);
  s.node(op, {x.name, s.filled({}, value)}, out);
  return out;
}

inline Val fixed_input(Sketch& s, std::size_t rank) {
  Dims dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(i == 0 ? s.between(1, 2) : 2 * s.between(1, 3));
  return s.input(dims, s.real());
}

inline Val any_fixed(Sketch& s, std::size_t rank) {
  const auto x = pick_fixed(s, rank, rank);
  const bool usable = x && std::all_of(x->dims.begin(), x->dims.end(), [](std::int64_t d) { return d > 0; });
  return usable && s.chance(80) ? *x : fixed_input(s, rank);
}

/// Gelu as exporters write it, in three orders.
inline Val gelu(Sketch& s, const Val& h) {
  const Val divided =
      s.chance(70) ? with_scalar(s, "Div", h, 1.4142135) : with_scalar(s, "Mul", h, 0.70710678);
  const Val sum = with_scalar(s, "Add", unary(s, "Erf", divided, 1), 1);
  switch (s.between(0, 2)) {
    case 0:
      return with_scalar(s, "Mul", binary(s, "Mul", h, sum), 0.5);
    case 1: {
      Val half = like(sum);
      s.node("Mul", {s.filled({}, 0.5), sum.name}, half);
      return binary(s, "Mul", h, half);
    }
    default:
      return binary(s, "Mul", with_scalar(s, "Mul", h, 0.5), sum);
  }
}

inline bool add_mlp(Sketch& s) {
  if (s.opset() < 9) return false;
  const Val x = any_fixed(s, static_cast<std::size_t>(s.between(2, 3)));
  const std::int64_t width = x.dims.back();
  Val h = matmul_weight(s, x, s.chance(60) ? 4 * width : width + 2, true);
  h = s.chance(70) ? gelu(s, h) : unary(s, "Relu", h);
  Val y = matmul_weight(s, h, width, true);
  y = binary(s, "Add", s.chance(50) ? y : x, s.chance(50) ? x : y);
  s.keep(h);
  s.keep(y);
  return true;
}

inline Val layer_norm(Sketch& s, const Val& x) {
  Val out = like(x, 2);
  const std::int64_t width = x.dims.back();
  const std::string bias = s.chance(40) ? s.filled({width}, 0) : s.weight({width});
  s.node("LayerNormalization", {x.name, s.positive_weight({width}), bias}, out).real("epsilon", 1e-3);
  return out;
}

inline bool add_norm_block(Sketch& s) {
  if (s.opset() < 17) return false;
  Val x = any_fixed(s, 3);
  if (s.chance(50)) x = binary(s, "Add", x, s.chance(50) ? matmul_weight(s, x, x.dims.back(), true) : x);
  Val n = layer_norm(s, x);
  const std::int64_t width = x.dims.back();
  Val scaled = like(n);
  switch (s.between(0, 4)) {
    case 0:
      s.node("Mul", {n.name, s.weight({width})}, scaled);
      break;
    case 1:
      s.node("Add", {n.name, s.weight({width})}, scaled);
      break;
    case 2:
      scaled = matmul_weight(s, n, width, true);
      break;
    case 3:
      scaled = reshape(s, n, {x.dims[0] * x.dims[1], width}, {-1, width});
      break;
    default:
      scaled = moved(n, {x.dims[0], width});
      s.node("Gather", {n.name, s.ints({0}, true)}, scaled).integer("axis", 1);
      break;
  }
  s.keep(x);
  s.keep(scaled);
  return true;
}

/// Attention with projections of one input, heads by Reshape and Transpose.
inline bool add_attention(Sketch& s) {
  const std::int64_t heads = 2, depth = s.between(1, 2), tokens = s.between(2, 3), width = heads * depth;
  const Val x = s.input({s.between(1, 2), tokens, width}, s.real());
  std::vector<Val> parts;
  if (s.chance(40)) {
    const Val all = matmul_weight(s, x, 3 * width, true);
    std::vector<std::string> names{s.fresh("q"), s.fresh("k"), s.fresh("v")};
    std::vector<std::string> inputs{all.name};
    if (s.opset() >= 13) inputs.push_back(s.ints({width, width, width}));
    NodeSketch node = s.several("Split", inputs, names);
    node.integer("axis", s.opset() >= 11 && s.chance(50) ? -1 : 2);
    if (s.opset() < 13) node.ints("split", {width, width, width});
    for (const std::string& name : names) {
      parts.push_back(moved(all, x.dims));
      parts.back().name = name;
    }
  } else {
    for (int i = 0; i < 3; ++i) parts.push_back(matmul_weight(s, x, width, s.chance(70)));
  }
  std::vector<Val> split_heads;
  for (std::size_t i = 0; i < 3; ++i) {
    Val part = parts[i];
    if (i == 0 && s.chance(40)) part = with_scalar(s, "Mul", part, 0.5);
    const Val wide = reshape(s, part, {x.dims[0], tokens, heads, depth}, {0, tokens, heads, depth});
    split_heads.push_back(transpose(s, wide, i == 1 ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3}));
  }
  Val scores{"", s.real(), {x.dims[0], heads, tokens, tokens}, 2, false, false};
  s.node("MatMul", {split_heads[0].name, split_heads[1].name}, scores);
  if (s.chance(60)) scores = with_scalar(s, s.chance(50) ? "Mul" : "Div", scores, 0.7);
  Val p = like(scores, 1);
  s.node("Softmax", {scores.name}, p).integer("axis", s.opset() >= 11 ? -1 : 3);
  Val y{"", s.real(), {x.dims[0], heads, tokens, depth}, 2, false, false};
  s.node("MatMul", {p.name, split_heads[2].name}, y);
  y = reshape(s, transpose(s, y, {0, 2, 1, 3}), x.dims, {0, tokens, width});
  s.keep(matmul_weight(s, y, width, true));
  return true;
}

/// Gates of a recurrent cell over a few steps.
inline bool add_gates(Sketch& s) {
  const std::int64_t width = 2 * s.between(1, 2), steps = s.between(1, 3);
  const Val x = s.input({steps, 1, width}, s.real());
  Val h = s.input({1, width}, s.real());
  std::vector<std::string> w, u;
  const std::int64_t gates = s.between(1, 3);
  for (std::int64_t g = 0; g < gates; ++g) {
    w.push_back(s.weight({width, width}, 0.5));
    u.push_back(s.weight({width, width}, 0.5));
  }
  for (std::int64_t t = 0; t < steps; ++t) {
    Val row = moved(x, {1, width});
    s.node("Gather", {x.name, s.ints({t}, true)}, row).integer("axis", 0);
    Val sum;
    for (std::size_t g = 0; g < w.size(); ++g) {
      Val a = like(row), b = like(h);
      s.node("MatMul", {row.name, w[g]}, a);
      s.node("MatMul", {h.name, u[g]}, b);
      const Val gate = unary(s, g % 2 == 0 ? "Sigmoid" : "Tanh", binary(s, "Add", a, b), 1);
      sum = g == 0 ? gate : binary(s, s.chance(50) ? "Add" : "Mul", sum, gate);
    }
    h = unary(s, "Tanh", sum, 1);
  }
  s.keep(h);
  return true;
}

inline Window plain_window(const Val& x, std::int64_t kernel) {
  const std::size_t n = x.rank() - 2;
  Window w{Dims(n, kernel), Dims(n, 1), Dims(n, 1), Dims(2 * n, kernel / 2), "", false, {}};
  w.out.assign(x.dims.begin() + 2, x.dims.end());
  return w;
}

inline Val batch_norm(Sketch& s, const Val& x) {
  const std::int64_t c = x.dims[1];
  Val out = like(x, 2);
  s.node("BatchNormalization",
         {x.name, s.positive_weight({c}), s.weight({c}), s.weight({c}), s.positive_weight({c})}, out)
      .real("epsilon", 0.01);
  return out;
}

/// Parallel convolutions of one input, normalised or not, joined or added.
inline bool add_branches(Sketch& s) {
  if (s.real() != DType::float32) return false;
  Val x = any_fixed(s, static_cast<std::size_t>(s.between(3, 4)));
  if (x.dims[1] > 8) return false;
  const bool joined = s.chance(60);
  std::vector<Val> branches;
  const std::int64_t columns = s.between(1, 4);
  for (std::int64_t i = s.between(2, 3); i > 0; --i) {
    const auto y = conv(s, x, joined ? s.between(1, 4) : columns, plain_window(x, s.chance(60) ? 1 : 3), 1,
                        s.chance(50));
    if (!y) return false;
    Val v = *y;
    if (s.chance(40)) v = batch_norm(s, v);
    if (s.chance(50)) v = unary(s, "Relu", v);
    branches.push_back(v);
    s.keep(v);
  }
  if (joined) {
    Val out = branches[0];
    std::vector<std::string> names;
    out.dims[1] = 0;
    for (const Val& b : branches) {
      names.push_back(b.name);
      out.dims[1] += b.dims[1];
    }
    s.node("Concat", names, out).integer("axis", 1);
    s.keep(out);
    if (s.chance(50))
      if (const auto y = conv(s, out, 3, plain_window(out, 1), 1, s.chance(50))) s.keep(*y);
  } else {
    s.keep(binary(s, "Add", branches[0], branches[1]));
  }
  return true;
}

inline bool add_conv_block(Sketch& s) {
  if (s.real() != DType::float32) return false;
  const Val x = any_fixed(s, 4);
  if (x.dims[1] > 8) return false;
  const bool grouped = x.dims[1] % 2 == 0 && s.chance(50);
  const std::int64_t group = !grouped ? 1 : s.chance(50) ? 2 : x.dims[1];
  const auto y = conv(s, x, grouped ? x.dims[1] : s.between(2, 4), plain_window(x, s.chance(50) ? 1 : 3),
                      group, s.chance(50));
  if (!y) return false;
  Val v = *y, out;
  switch (s.between(0, 5)) {
    case 0:
      v = batch_norm(s, v);
      break;
    case 1:
      out = like(v);
      s.node("Mul", {v.name, s.weight({v.dims[1], 1, 1})}, out);
      v = out;
      break;
    case 2:
      out = like(v);
      s.node("Add", {v.name, s.weight({1, v.dims[1], 1, 1})}, out);
      v = out;
      break;
    case 3:
      out = v;
      std::fill(out.dims.begin() + 2, out.dims.end(), 1);
      s.node("GlobalAveragePool", {v.name}, out);
      v = out;
      break;
    case 4: {
      const auto w = draw_window(s, v, false, true, s.opset() >= 10);
      const auto p = w ? pool(s, v, s.chance(50) ? "AveragePool" : "MaxPool", *w) : std::nullopt;
      if (p) v = *p;
      if (p && s.chance(50))
        if (const auto again = conv(s, v, 2, plain_window(v, 1), 1, false)) v = *again;
      break;
    }
    default:
      v = unary(s, "Relu", v);
      break;
  }
  s.keep(v);
  return true;
}

}
