#pragma once

// Elementwise ops, with and without broadcasting, comparisons and casts.

#include "core/exec/rewrite_fuzzing/sketch.h"

namespace regraft::exec::rewrite_fuzzing {

struct UnaryOp {
  const char* name;
  std::int64_t since;
  double scale;         // of the result, for input scale 1; 0: as the input
  bool monotone_exact;  // keeps exactness: moves no value across a rounding
};

inline Val like(const Val& v, double scale = 0) {
  return {"", v.dtype, v.dims, scale > 0 ? scale : v.scale, false, false};
}

inline bool add_unary(Sketch& s) {
  static const std::vector<UnaryOp> ops{
      {"Relu", 7, 0, true},      {"LeakyRelu", 7, 0, false},   {"Elu", 7, 0, false},
      {"Sigmoid", 7, 1, false},  {"HardSigmoid", 7, 1, false}, {"HardSwish", 14, 0, false},
      {"Tanh", 7, 1, false},     {"Softplus", 7, 0, false},    {"Erf", 9, 1, false},
      {"Gelu", 20, 0, false},    {"Neg", 7, 0, true},          {"Abs", 7, 0, true},
      {"Sin", 7, 1, false},      {"Cos", 7, 1, false},         {"Identity", 7, 0, true},
      {"Softsign", 7, 1, false}, {"Selu", 7, 0, false},        {"ThresholdedRelu", 10, 0, false},
      {"Sinh", 9, 0, false},     {"Atan", 7, 1, false},        {"Mish", 18, 0, false},
  };
  const UnaryOp& op = s.one_of(ops);
  const auto x = s.pick_real();
  if (!x || s.opset() < op.since) return false;
  const std::string name = op.name;
  if (name == "Sinh" && x->scale > 1) return false;
  if (name == "ThresholdedRelu" && !x->exact) return false;
  Val out = like(*x, op.scale);
  out.exact = x->exact && op.monotone_exact;
  NodeSketch node = s.node(name, {x->name}, out);
  if (name == "LeakyRelu" && s.chance(70)) node.real("alpha", 0.2);
  if (name == "Elu" && s.chance(50)) node.real("alpha", 1.5);
  if (name == "HardSigmoid" && s.chance(50)) node.real("alpha", 0.3).real("beta", 0.4);
  if (name == "Gelu" && s.chance(50)) node.text("approximate", "tanh");
  s.keep(out);
  return true;
}

/// Ops whose operand must be kept away from zero, or small.
inline bool add_partial(Sketch& s) {
  const auto x = s.pick_real();
  if (!x) return false;
  const std::vector<std::string> ops{"Log", "Sqrt", "Reciprocal", "Exp", "Div"};
  const std::string& op = s.one_of(ops);
  if (op == "Exp") {
    if (x->scale > 1) return false;
    Val out = like(*x, 3);
    s.node("Exp", {x->name}, out);
    s.keep(out);
    return true;
  }
  Val safe = *x;
  if (!x->positive) {
    Val bounded = like(*x, 1);
    s.node(s.chance(50) ? "Sigmoid" : "Abs", {x->name}, bounded);
    safe = like(*x, x->scale + 1);
    s.node("Add", {bounded.name, s.scalar(0.5)}, safe);
    safe.positive = true;
    s.keep(safe);
  }
  Val out = like(*x, 2);
  if (op == "Div") {
    const auto y = s.pick([&](const Val& v) { return v.dtype == x->dtype && v.dims == x->dims; });
    s.node("Div", {y->name, safe.name}, out);
    out.scale = y->scale * 2;
  } else {
    s.node(op, {safe.name}, out);
  }
  s.keep(out);
  return true;
}

/// Ops that jump: only where no rounding has happened before.
inline bool add_step(Sketch& s) {
  const auto x = s.pick([&](const Val& v) { return v.dtype == s.real() && v.exact; });
  if (!x) return false;
  std::vector<std::string> ops{"Floor", "Ceil"};
  if (s.opset() >= 9) ops.push_back("Sign");
  if (s.opset() >= 11) ops.push_back("Round");
  Val out = like(*x);
  out.exact = true;
  s.node(s.one_of(ops), {x->name}, out);
  s.keep(out);
  return true;
}

inline bool add_clip(Sketch& s) {
  const auto x = s.pick_real();
  if (!x) return false;
  const bool low = s.chance(70), high = !low || s.chance(70);
  Val out = like(*x);
  out.exact = x->exact;
  if (s.opset() < 11) {
    if (x->dtype != DType::float32) return false;
    NodeSketch node = s.node("Clip", {x->name}, out);
    if (low) node.real("min", -0.5);
    if (high) node.real("max", 0.75);
  } else {
    s.node("Clip", {x->name, low ? s.filled({}, -0.5) : "", high ? s.filled({}, 0.75) : ""}, out);
  }
  s.keep(out);
  return true;
}

/// Dims that broadcast to `dims` without enlarging it: leading ones cut, some set to 1. Symbols become 1.
inline Dims broadcastable(Sketch& s, const Dims& dims) {
  Dims result = dims;
  for (std::int64_t& dim : result)
    if (dim == kSymbol || s.chance(30)) dim = 1;
  const auto cut = static_cast<std::ptrdiff_t>(s.between(0, static_cast<std::int64_t>(result.size())));
  if (s.chance(60)) result.erase(result.begin(), result.begin() + cut);
  return result;
}

/// Multidirectional broadcasting; nothing where it fails or mixes symbols with sizes above 1.
inline std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

/// An operand that goes with x: a constant that broadcasts to it, or another value.
inline std::optional<Val> partner(Sketch& s, const Val& x, int constant_percent) {
  if (!s.chance(constant_percent)) {
    const auto y = s.pick([&](const Val& v) {
      if (v.dtype != x.dtype || v.name == x.name) return false;
      const auto dims = broadcast_dims(v.dims, x.dims);
      return dims && Val{"", x.dtype, *dims}.count() <= 2048;
    });
    if (y) return y;
  }
  Val constant{"", x.dtype, s.chance(25) ? Dims{} : broadcastable(s, x.dims), 1, false, false};
  constant.name = constant.dims.empty() ? s.scalar(s.one_of(std::vector<double>{0.5, 2, -1, 0.25, 1, 0}))
                                        : s.weight(constant.dims);
  return constant;
}

inline bool add_binary(Sketch& s) {
  const auto x = s.pick_real();
  if (!x) return false;
  const std::vector<std::string> ops{"Add", "Add", "Mul", "Mul", "Sub", "Div", "Pow"};
  const std::string& op = s.one_of(ops);
  if (op == "Div" || op == "Pow") {
    Val out = like(*x, op == "Div" ? 2 * x->scale : x->scale * x->scale + 1);
    if (op == "Pow" && x->scale > 5) return false;
    const std::string other = op == "Pow"    ? s.scalar(2)
                              : s.chance(50) ? s.scalar(s.one_of(std::vector<double>{2, -0.5, 1.4142135}))
                                             : s.positive_weight(broadcastable(s, x->dims));
    s.node(op, {x->name, other}, out);
    s.keep(out);
    return true;
  }
  const auto y = partner(s, *x, 50);
  const auto dims = broadcast_dims(x->dims, y->dims);
  if (!dims || (op == "Mul" && x->scale * y->scale > kLargeScale)) return false;
  Val out{"", x->dtype, *dims, op == "Mul" ? x->scale * y->scale : x->scale + y->scale, false, false};
  const bool swapped = s.chance(40);
  s.node(op, {swapped ? y->name : x->name, swapped ? x->name : y->name}, out);
  s.keep(out);
  return true;
}

inline bool add_variadic(Sketch& s) {
  const auto x = s.pick_real();
  if (!x) return false;
  const std::vector<std::string> ops{"Max", "Min", "Sum", "Mean"};
  const std::string& op = s.one_of(ops);
  Val out = like(*x);
  std::vector<std::string> inputs{x->name};
  bool exact = x->exact;
  for (std::int64_t more = s.between(0, 2); more > 0; --more) {
    const auto y = s.opset() < 8
                       ? s.pick([&](const Val& v) { return v.dtype == x->dtype && v.dims == x->dims; })
                       : partner(s, *x, 30);
    const auto dims = broadcast_dims(out.dims, y->dims);
    if (!dims) continue;
    out.dims = *dims;
    out.scale += op == "Sum" ? y->scale : 0;
    exact = exact && y->exact;
    inputs.push_back(y->name);
  }
  out.exact = exact && (op == "Max" || op == "Min");
  s.node(op, inputs, out);
  s.keep(out);
  return true;
}

inline bool add_prelu(Sketch& s) {
  const auto x = s.pick_real(1);
  if (!x || x->dtype != DType::float32) return false;
  Val out = like(*x);
  s.node("PRelu", {x->name, s.weight(broadcastable(s, x->dims), 0.3)}, out);
  s.keep(out);
  return true;
}

/// Compare, combine, choose.
inline bool add_choice(Sketch& s) {
  const auto x = s.pick([&](const Val& v) { return v.dtype == s.real() && v.exact; });
  if (!x || s.opset() < 9 || x->dtype == DType::float16) return false;
  std::vector<std::string> ops{"Greater", "Less"};
  if (s.opset() >= 11) ops.push_back("Equal");
  if (s.opset() >= 16) ops.insert(ops.end(), {"GreaterOrEqual", "LessOrEqual"});
  Val mask{"", DType::boolean, x->dims, 1, true, false};
  s.node(s.one_of(ops), {x->name, s.scalar(0.25)}, mask);
  if (s.chance(40)) {
    Val turned = mask;
    s.node("Not", {mask.name}, turned);
    Val both = mask;
    s.node(s.chance(50) ? "And" : "Or", {mask.name, turned.name}, both);
    mask = both;
  }
  const auto y = s.pick([&](const Val& v) { return v.dtype == x->dtype && v.dims == x->dims; });
  Val out = like(*x, x->scale + y->scale);
  s.node("Where", {mask.name, y->name, s.chance(50) ? x->name : s.scalar(-2)}, out);
  s.keep(out);
  return true;
}

inline bool add_cast(Sketch& s) {
  const auto x = s.pick([&](const Val& v) { return v.dtype == s.real() && v.exact; });
  if (!x) return false;
  const std::vector<DType> kinds{DType::int32, DType::int64, DType::boolean, DType::float32, DType::float64};
  const DType kind = s.one_of(kinds);
  Val out{"", kind, x->dims, x->scale, true, false};
  s.node("Cast", {x->name}, out).integer("to", static_cast<int>(kind));
  if (kind == DType::int64 || kind == DType::int32) {
    Val twice = out;
    s.node(s.chance(50) ? "Add" : "Mul", {out.name, out.name}, twice);
    if (kind == DType::int64) {
      Val more = out;
      s.node(s.chance(50) ? "Add" : "Mul", {twice.name, s.ints({3}, true)}, more);
      twice = more;
    }
    out = twice;
  }
  Val back{"", s.real(), out.dims, 2 * x->scale, true, false};
  s.node("Cast", {out.name}, back).integer("to", static_cast<int>(s.real()));
  s.keep(back);
  return true;
}

}
