#pragma once

// Movements, selections and parts of values: the places where rules apply.

#include "core/exec/rewrite_fuzzing/blocks.h"

namespace regraft::exec::rewrite_fuzzing {

/// Channel shuffle, or a chain of movements that partly undo each other.
inline bool add_moves(Sketch& s) {
  Val x = any_fixed(s, static_cast<std::size_t>(s.between(2, 4)));
  for (std::int64_t i = s.between(2, 4); i > 0; --i) {
    Dims perm(x.rank());
    std::iota(perm.begin(), perm.end(), 0);
    switch (s.between(0, 3)) {
      case 0:
        for (std::size_t k = perm.size(); k > 1; --k) std::swap(perm[k - 1], perm[s.rng().below(k)]);
        x = transpose(s, x, perm);
        break;
      case 1:
        x = reshape(s, x, {x.count()}, {-1});
        break;
      case 2:
        if (x.count() % 4 != 0) return false;
        x = reshape(s, x, {2, x.count() / 4, 2}, {2, -1, 2});
        break;
      default:
        x = unary(s, s.chance(50) ? "Relu" : "Sigmoid", x, 1);
        break;
    }
  }
  s.keep(x);
  return true;
}

/// Several parts of one value, worked on alike and joined.
inline bool add_parts(Sketch& s) {
  const Val x = any_fixed(s, static_cast<std::size_t>(s.between(2, 4)));
  const auto axis = static_cast<std::int64_t>(s.rng().below(x.rank()));
  const auto parts = split(s, x, axis);
  if (!parts) return false;
  std::vector<std::string> names;
  const std::string op = s.one_of(std::vector<std::string>{"Relu", "Sigmoid", "Neg"});
  Val out = moved(x, x.dims);
  out.exact = false;
  for (const Val& part : *parts) {
    const Val y = unary(s, op, part);
    names.push_back(y.name);
    if (s.chance(20)) s.keep(y);
  }
  s.node("Concat", names, out).integer("axis", axis);
  s.keep(out);
  return true;
}

inline Val slice(Sketch& s, const Val& x, std::int64_t begin, std::int64_t end, std::int64_t axis) {
  Val out = moved(x, x.dims);
  out.dims[static_cast<std::size_t>(axis)] = end - begin;
  if (s.opset() < 10)
    s.node("Slice", {x.name}, out).ints("starts", {begin}).ints("ends", {end}).ints("axes", {axis});
  else
    s.node("Slice", {x.name, s.ints({begin}), s.ints({end}), s.ints({axis})}, out);
  return out;
}

/// A later choice of rows, columns or channels of something larger.
inline bool add_selection(Sketch& s) {
  Val x = any_fixed(s, static_cast<std::size_t>(s.between(2, 4)));
  switch (s.between(0, 5)) {
    case 0:
      x = matmul_weight(s, x, s.between(2, 5), s.chance(50));
      break;
    case 1:
      x = unary(s, "Sigmoid", x, 1);
      break;
    case 2: {
      Val out = like(x, 1);
      s.node("Softmax", {x.name}, out).integer("axis", static_cast<std::int64_t>(x.rank()) - 1);
      x = out;
      break;
    }
    case 3:
      x = binary(s, s.chance(50) ? "Add" : "Mul", x, x);
      break;
    case 4: {
      Dims perm(x.rank());
      std::iota(perm.begin(), perm.end(), 0);
      std::swap(perm[0], perm[perm.size() - 1]);
      x = transpose(s, x, perm);
      break;
    }
    default: {
      Val out = x;
      out.dims[0] *= 2;
      s.node("Concat", {x.name, x.name}, out).integer("axis", 0);
      x = out;
      break;
    }
  }
  const auto axis = static_cast<std::int64_t>(s.rng().below(x.rank()));
  const std::int64_t dim = x.dims[static_cast<std::size_t>(axis)];
  if (s.chance(40) && dim >= 2) {
    const std::int64_t cut = s.between(1, dim - 1);
    const Val head = slice(s, x, 0, cut, axis), tail = slice(s, x, cut, dim, axis);
    s.keep(head);
    s.keep(tail);
    if (s.chance(30)) s.keep(slice(s, tail, 0, 1, axis));
    return true;
  }
  if (s.chance(25) && x.rank() >= 2 && axis == static_cast<std::int64_t>(x.rank()) - 2) {
    Val mean = moved(x, x.dims);
    mean.exact = false;
    mean.dims[static_cast<std::size_t>(axis)] = 1;
    const bool as_input = s.opset() >= 18;
    NodeSketch node =
        s.node("ReduceMean", as_input ? std::vector{x.name, s.ints({axis})} : std::vector{x.name}, mean);
    if (!as_input) node.ints("axes", {axis});
    s.keep(s.chance(60) ? matmul_weight(s, mean, 3, s.chance(50)) : mean);
    return true;
  }
  Dims index;
  const bool scalar = s.chance(30);
  for (std::int64_t i = scalar ? 1 : s.between(1, 2); i > 0; --i) index.push_back(s.between(0, dim - 1));
  Dims to = x.dims;
  if (scalar)
    to.erase(to.begin() + axis);
  else
    to[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(index.size());
  Val out = moved(x, to);
  s.node("Gather", {x.name, s.ints(index, scalar)}, out).integer("axis", axis);
  s.keep(out);
  return true;
}

/// Products of one input or one weight, added, scaled or joined.
inline bool add_products(Sketch& s) {
  const Val x = any_fixed(s, static_cast<std::size_t>(s.between(2, 3)));
  const std::int64_t columns = s.between(1, 4), inner = x.dims.back();
  const std::string w = s.weight({inner, columns}, fan_in_scale(inner));
  const auto product = [&](const Val& left, const std::string& right) {
    Val out = like(left, left.scale);
    out.dims.back() = columns;
    out.exact = false;
    s.node("MatMul", {left.name, right}, out);
    return out;
  };
  const Val y = s.input(x.dims, s.real());
  const Val a = product(x, w);
  const Val b = s.chance(50) ? product(y, w)
                             : product(s.chance(50) ? x : y, s.weight({inner, columns}, fan_in_scale(inner)));
  Val out = binary(s, "Add", a, b);
  if (s.chance(40)) {
    Val scaled = like(out);
    s.node("Mul", {out.name, s.chance(50) ? s.scalar(0.5) : s.weight({columns})}, scaled);
    out = scaled;
  }
  s.keep(a);
  s.keep(out);
  return true;
}

/// Squeeze and excitation.
inline bool add_excite(Sketch& s) {
  if (s.real() != DType::float32) return false;
  const Val x = any_fixed(s, 4);
  if (x.dims[1] > 8) return false;
  Val pooled = x;
  std::fill(pooled.dims.begin() + 2, pooled.dims.end(), 1);
  pooled.exact = pooled.positive = false;
  s.node("GlobalAveragePool", {x.name}, pooled);
  const auto small = conv(s, pooled, 2, plain_window(pooled, 1), 1, true);
  const auto wide =
      small ? conv(s, unary(s, "Relu", *small), x.dims[1], plain_window(*small, 1), 1, true) : small;
  if (!wide) return false;
  s.keep(binary(s, "Mul", x, unary(s, s.chance(50) ? "Sigmoid" : "HardSigmoid", *wide, 1)));
  return true;
}

/// Products and sums of integers, which fewer kernels take.
inline bool add_integers(Sketch& s) {
  if (s.opset() < 9) return false;
  const std::int64_t width = s.between(2, 4);
  const DType dtype = s.chance(60) ? DType::int64 : DType::int32;
  const Val x = s.input({s.between(1, 3), width}, dtype), y = s.input({width, s.between(1, 3)}, dtype);
  Val product{"", dtype, {x.dims[0], y.dims[1]}, 50, true, false};
  s.node("MatMul", {x.name, y.name}, product);
  Val out = product;
  if (s.chance(60)) {
    const Val shift = s.input({product.dims[1]}, dtype);
    s.node("Add", {product.name, shift.name}, out);
  }
  if (s.chance(40)) {
    Val moved_out = out;
    std::swap(moved_out.dims[0], moved_out.dims[1]);
    s.node("Transpose", {out.name}, moved_out).ints("perm", {1, 0});
    out = moved_out;
  }
  Val real{"", s.real(), out.dims, 50, true, false};
  s.node("Cast", {out.name}, real).integer("to", static_cast<int>(s.real()));
  s.keep(real);
  return true;
}

/// Pools of parts that are joined, or of what was joined; a shared window.
inline bool add_pooled_parts(Sketch& s) {
  if (s.real() != DType::float32) return false;
  const Val x = any_fixed(s, 4);
  const Val y = s.input(x.dims, s.real());
  const auto w = draw_window(s, x, false, true, false);
  if (!w || !w->auto_pad.empty()) return false;
  const bool max = s.chance(60), first = s.chance(50), global = s.chance(20);
  const auto pooled = [&](const Val& v) {
    Val out = moved(v, {v.dims[0], v.dims[1]});
    out.exact = v.exact && max && !global;
    if (global)
      out.dims.resize(4, 1);
    else
      out.dims.insert(out.dims.end(), w->out.begin(), w->out.end());
    NodeSketch node = s.node(global ? "GlobalAveragePool" : max ? "MaxPool" : "AveragePool", {v.name}, out);
    if (!global) node.ints("kernel_shape", w->kernel).ints("strides", w->strides).ints("pads", w->pads);
    return out;
  };
  const auto joined = [&](const Val& a, const Val& b) {
    Val out = a;
    out.dims[1] += b.dims[1];
    s.node("Concat", {a.name, b.name}, out).integer("axis", 1);
    return out;
  };
  if (std::any_of(w->out.begin(), w->out.end(), [](std::int64_t d) { return d <= 0; })) return false;
  s.keep(first ? joined(pooled(x), pooled(y)) : pooled(joined(x, y)));
  return true;
}

/// A fused projection taken apart by Reshape, Transpose and Gather, as exporters of vision models write it.
inline bool add_fused_projection(Sketch& s) {
  const std::int64_t tokens = s.between(2, 3), width = 2 * s.between(1, 2);
  const Val x = s.input({tokens, 1, width}, s.real());
  Val all = matmul_weight(s, x, 3 * width, true);
  all = reshape(s, all, {tokens, 1, 3, width}, {tokens, 1, 3, width});
  Val wide = moved(all, {1, tokens, 1, 3, width});
  if (s.opset() < 13)
    s.node("Unsqueeze", {all.name}, wide).ints("axes", {0});
  else
    s.node("Unsqueeze", {all.name, s.ints({0})}, wide);
  wide = transpose(s, wide, {3, 1, 2, 0, 4});
  Val flat = moved(wide, {3, tokens, 1, width});
  if (s.opset() < 13)
    s.node("Squeeze", {wide.name}, flat).ints("axes", {3});
  else
    s.node("Squeeze", {wide.name, s.ints({3})}, flat);
  for (std::int64_t i = 0; i < 3; ++i) {
    Val part = moved(flat, {tokens, 1, width});
    s.node("Gather", {flat.name, s.ints({i}, true)}, part).integer("axis", 0);
    s.keep(part);
  }
  return true;
}

/// Rows chosen late: after Gelu, a Gemm, a sum, a shuffle or another choice.
inline bool add_late_rows(Sketch& s) {
  if (s.opset() < 9) return false;
  Val x = any_fixed(s, 3);
  const auto choose = [&](const Val& v, std::int64_t axis) {
    Val out = moved(v, v.dims);
    const std::int64_t dim = v.dims[static_cast<std::size_t>(axis)];
    Dims index{s.between(0, dim - 1)};
    if (s.chance(40)) index.push_back(s.between(0, dim - 1));
    out.dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(index.size());
    s.node("Gather", {v.name, s.ints(index)}, out).integer("axis", axis);
    return out;
  };
  switch (s.between(0, 4)) {
    case 0:
      x = gelu(s, x);
      break;
    case 1: {
      const Val rows = reshape(s, x, {x.dims[0] * x.dims[1], x.dims[2]}, {-1, x.dims[2]});
      Val out{"", x.dtype, {rows.dims[0], 3}, x.scale + 1, false, false};
      s.node("Gemm", {rows.name, s.weight({rows.dims[1], 3}, fan_in_scale(rows.dims[1])), s.weight({3})},
             out);
      x = reshape(s, out, {1, rows.dims[0], 3}, {1, -1, 3});
      break;
    }
    case 2: {
      Val out = like(x, x.scale + 1);
      s.node("Sum", {x.name, s.input(x.dims, s.real()).name}, out);
      x = out;
      break;
    }
    case 3:
      x = choose(x, 1);
      break;
    default:
      x = reshape(s, transpose(s, x, {1, 0, 2}), {1, x.dims[0] * x.dims[1], x.dims[2]}, {1, -1, x.dims[2]});
      break;
  }
  s.keep(choose(x, s.chance(70) ? 1 : s.between(0, 2)));
  return true;
}

inline bool add_gather_elements(Sketch& s) {
  const auto x = pick_fixed(s, 1, 3);
  if (!x || s.opset() < 11 || x->count() == 0 || x->count() > 400) return false;
  const std::int64_t axis = any_axis(s, x->rank());
  const std::size_t at = at_axis(axis, x->rank());
  Dims index;
  for (std::int64_t i = 0; i < x->count(); ++i) index.push_back(s.between(-x->dims[at], x->dims[at] - 1));
  Tensor tensor = Tensor::of<std::int64_t>(DType::int64, x->dims, index);
  Val out = moved(*x, x->dims);
  s.node("GatherElements", {x->name, s.store(tensor, "index")}, out).integer("axis", axis);
  s.keep(out);
  return true;
}

/// Two branches under a condition that the caller gives, both with captures of outer values.
inline bool add_if(Sketch& s) {
  const auto x = s.pick([&](const Val& v) { return v.dtype == s.real() && v.fixed(); });
  if (!x) return false;
  const Val condition = s.input({}, DType::boolean);
  const auto branch = [&](const std::string& op) {
    pb::GraphProto graph;
    graph.set_name(op + "_branch");
    pb::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.add_input(x->name);
    if (op == "Add") node.add_input(x->name);
    node.add_output(s.fresh("inner"));
    s.describe(*graph.add_output(), {node.output(0), x->dtype, x->dims}, true);
    return graph;
  };
  Val out = like(*x, 2 * x->scale);
  NodeSketch node = s.node("If", {condition.name}, out);
  node.graph("then_branch", branch("Add")).graph("else_branch", branch("Neg"));
  s.keep(out);
  return true;
}

}
