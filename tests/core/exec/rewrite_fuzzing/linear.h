#pragma once

// Products, windows, normalisations and reductions.

#include "core/exec/rewrite_fuzzing/movement.h"

namespace regraft::exec::rewrite_fuzzing {

inline double fan_in_scale(std::int64_t fan_in) {
  return 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, fan_in)));
}

inline Val matmul_weight(Sketch& s, const Val& x, std::int64_t columns, bool bias) {
  const std::int64_t inner = x.dims.back();
  Val out{"", x.dtype, x.dims, x.scale, false, false};
  out.dims.back() = columns;
  s.node("MatMul", {x.name, s.weight({inner, columns}, fan_in_scale(inner))}, out);
  if (!bias) return out;
  Val biased = out;
  biased.scale += 1;
  const std::string b = s.weight({columns});
  const bool swapped = s.chance(30);
  s.node("Add", {swapped ? b : out.name, swapped ? out.name : b}, biased);
  return biased;
}

inline bool add_matmul(Sketch& s) {
  const auto x = s.pick_real(1, 4);
  if (!x || x->dims.back() == kSymbol || x->dims.back() == 0) return false;
  if (x->rank() >= 2 && x->fixed() && s.chance(25)) {  // by another activation: itself, transposed
    Dims perm(x->rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    const std::size_t rows = x->rank() - 2;
    const auto y = s.pick([&](const Val& v) {
      return v.dtype == x->dtype && v.rank() == x->rank() && v.dims[rows] == x->dims.back() && v.fixed() &&
             std::equal(v.dims.begin(), v.dims.end() - 2, x->dims.begin());
    });
    const Val right = y && s.chance(60) ? *y : transpose(s, *x, perm);
    if (x->scale * right.scale * static_cast<double>(x->dims.back()) > kLargeScale) return false;
    Val out{"",    x->dtype, x->dims, x->scale * right.scale * static_cast<double>(x->dims.back()),
            false, false};
    out.dims.back() = right.dims.back();
    s.node("MatMul", {x->name, right.name}, out);
    s.keep(out);
    return true;
  }
  if (x->rank() == 1) {
    Val out{"", x->dtype, {3}, x->scale, false, false};
    s.node("MatMul", {x->name, s.weight({x->dims[0], 3}, fan_in_scale(x->dims[0]))}, out);
    s.keep(out);
    return true;
  }
  if (s.chance(10)) {  // by a vector
    Val out{"", x->dtype, Dims(x->dims.begin(), x->dims.end() - 1), x->scale, false, false};
    s.node("MatMul", {x->name, s.weight({x->dims.back()}, fan_in_scale(x->dims.back()))}, out);
    s.keep(out);
    return true;
  }
  if (x->rank() >= 3 && x->fixed() && s.chance(15)) {  // a weight for each of the batch
    Val out{"", x->dtype, x->dims, x->scale, false, false};
    Dims dims(x->dims.begin(), x->dims.end());
    dims[dims.size() - 2] = x->dims.back();
    out.dims.back() = dims.back() = s.between(1, 4);
    s.node("MatMul", {x->name, s.weight(dims, fan_in_scale(x->dims.back()))}, out);
    s.keep(out);
    return true;
  }
  s.keep(matmul_weight(s, *x, s.between(1, 6), s.chance(50)));
  return true;
}

inline bool add_gemm(Sketch& s) {
  const auto x = pick_fixed(s, 2, 2);
  if (!x || x->dims[0] == 0 || x->dims[1] == 0) return false;
  const bool ta = s.chance(20), tb = s.chance(40);
  const std::int64_t m = x->dims[ta ? 1 : 0], k = x->dims[ta ? 0 : 1], n = s.between(1, 6);
  const bool biased = s.opset() < 11 || s.chance(70);
  const std::vector<Dims> shapes{{n}, {n}, {1, n}, {m, n}, {m, 1}, {1}, {}};
  std::vector<std::string> inputs{x->name, s.weight(tb ? Dims{n, k} : Dims{k, n}, fan_in_scale(k))};
  if (biased) inputs.push_back(s.weight(s.one_of(shapes)));
  Val out{"", x->dtype, {m, n}, x->scale + 1, false, false};
  NodeSketch node = s.node("Gemm", inputs, out);
  if (ta || s.chance(20)) node.integer("transA", ta);
  if (tb || s.chance(20)) node.integer("transB", tb);
  if (s.chance(30)) node.real("alpha", 0.5);
  if (s.chance(30)) node.real("beta", 2);
  s.keep(out);
  return true;
}

/// A window over the spatial dims of a value: sizes, and how its attributes are written.
struct Window {
  Dims kernel, strides, dilations, pads;
  std::string auto_pad;
  bool ceil = false;
  Dims out;  // spatial dims of the result
};

inline std::optional<Window> draw_window(Sketch& s, const Val& x, bool dilates, bool pads, bool ceils) {
  Window w;
  const std::size_t n = x.rank() - 2;
  if (s.chance(15))
    w.auto_pad = s.one_of(std::vector<std::string>{"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"});
  const bool same = w.auto_pad.starts_with("SAME");
  const bool explicit_pads = w.auto_pad.empty() || w.auto_pad == "NOTSET";
  w.ceil = ceils && explicit_pads && s.chance(30);
  w.pads.assign(2 * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t in = x.dims[i + 2];
    w.kernel.push_back(s.between(1, std::min<std::int64_t>(3, std::max<std::int64_t>(in, 1))));
    w.strides.push_back(s.chance(70) ? 1 : 2);
    w.dilations.push_back(dilates && !same && s.chance(20) ? 2 : 1);
    if (pads && explicit_pads && s.chance(50)) {
      w.pads[i] = s.between(0, w.kernel[i] - 1);
      w.pads[i + n] = s.chance(60) ? w.pads[i] : s.between(0, w.kernel[i] - 1);
    }
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t padded = in + w.pads[i] + w.pads[i + n];
    std::int64_t out = (padded - reach) / w.strides[i] + 1;
    if (same) out = (in + w.strides[i] - 1) / w.strides[i];
    if (!same && padded < reach) return std::nullopt;
    if (w.ceil) {
      out = (padded - reach + w.strides[i] - 1) / w.strides[i] + 1;
      // A last window that lies in the end padding alone is dropped by the runtime's kernels, but not by its
      // planner, which then may give the buffer of a larger tensor and fail.
      if ((out - 1) * w.strides[i] >= in + w.pads[i]) return std::nullopt;
    }
    w.out.push_back(out);
  }
  return w;
}

inline void write_window(Sketch& s, NodeSketch& node, const Window& w, bool kernel_needed) {
  const auto plain = [](const Dims& v, std::int64_t p) {
    return std::all_of(v.begin(), v.end(), [p](std::int64_t i) { return i == p; });
  };
  if (kernel_needed || s.chance(70)) node.ints("kernel_shape", w.kernel);
  if (!plain(w.strides, 1) || s.chance(50)) node.ints("strides", w.strides);
  if (!plain(w.dilations, 1) || (!kernel_needed && s.chance(30))) node.ints("dilations", w.dilations);
  const bool explicit_pads = w.auto_pad.empty() || w.auto_pad == "NOTSET";
  if (explicit_pads && (!plain(w.pads, 0) || s.chance(50))) node.ints("pads", w.pads);
  if (!w.auto_pad.empty()) node.text("auto_pad", w.auto_pad);
}

inline std::optional<Val> pick_image(Sketch& s) {
  return s.pick([&](const Val& v) {
    return v.dtype == s.real() && v.dtype != DType::float64 && v.rank() >= 3 && v.rank() <= 4 &&
           v.dims[1] > 0 &&
           std::all_of(v.dims.begin() + 1, v.dims.end(), [](std::int64_t d) { return d > 0; }) &&
           v.count() > 0;
  });
}

inline std::optional<Val> conv(Sketch& s, const Val& x, std::int64_t columns, const Window& w,
                               std::int64_t group, bool bias) {
  const std::int64_t channels = x.dims[1];
  Dims weight{columns, channels / group};
  weight.insert(weight.end(), w.kernel.begin(), w.kernel.end());
  std::int64_t fan_in = channels / group;
  for (const std::int64_t k : w.kernel) fan_in *= k;
  Val out{"", x.dtype, {x.dims[0], columns}, x.scale + (bias ? 1 : 0), false, false};
  out.dims.insert(out.dims.end(), w.out.begin(), w.out.end());
  if (out.count() > 3000) return std::nullopt;
  std::vector<std::string> inputs{x.name, s.weight(weight, fan_in_scale(fan_in))};
  if (bias) inputs.push_back(s.weight({columns}));
  NodeSketch node = s.node("Conv", inputs, out);
  write_window(s, node, w, false);
  if (group != 1 || s.chance(30)) node.integer("group", group);
  return out;
}

inline bool add_conv(Sketch& s) {
  const auto x = pick_image(s);
  if (!x) return false;
  const auto w = draw_window(s, *x, true, true, false);
  if (!w) return false;
  const std::int64_t channels = x->dims[1];
  std::int64_t group = 1, columns = s.between(1, 6);
  if (s.chance(25)) {
    group = channels;  // depthwise
    columns = channels * s.between(1, 2);
  } else if (channels % 2 == 0 && s.chance(25)) {
    group = channels % 4 == 0 && s.chance(50) ? 4 : 2;
    columns = group * s.between(1, 2);
  }
  const auto out = conv(s, *x, columns, *w, group, s.chance(50));
  if (!out) return false;
  s.keep(*out);
  return true;
}

inline bool add_conv_transpose(Sketch& s) {
  const auto x = pick_image(s);
  if (!x || x->count() > 300 || x->dtype != DType::float32) return false;
  const std::size_t n = x->rank() - 2;
  const std::int64_t channels = x->dims[1];
  const std::int64_t group = channels % 2 == 0 && s.chance(40) ? 2 : 1, per_group = s.between(1, 2);
  Dims kernel, strides, dilations, pads(2 * n, 0), extra, weight{channels, per_group};
  Val out{"", x->dtype, {x->dims[0], group * per_group}, x->scale + 1, false, false};
  for (std::size_t i = 0; i < n; ++i) {
    kernel.push_back(s.between(1, 3));
    strides.push_back(s.between(1, 2));
    dilations.push_back(s.chance(20) ? 2 : 1);
    pads[i] = s.between(0, kernel[i] - 1) / 2;
    pads[i + n] = s.between(0, kernel[i] - 1) / 2;
    extra.push_back(strides[i] > 1 && s.chance(40) ? 1 : 0);
    out.dims.push_back((x->dims[i + 2] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - pads[i] -
                       pads[i + n] + extra[i]);
    if (out.dims.back() <= 0) return false;
  }
  if (out.count() > 3000) return false;
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  std::vector<std::string> inputs{x->name, s.weight(weight, 0.4)};
  if (s.chance(50)) inputs.push_back(s.weight({group * per_group}));
  s.node("ConvTranspose", inputs, out)
      .ints("kernel_shape", kernel)
      .ints("strides", strides)
      .ints("dilations", dilations)
      .ints("pads", pads)
      .ints("output_padding", extra)
      .integer("group", group);
  s.keep(out);
  return true;
}

inline std::optional<Val> pool(Sketch& s, const Val& x, const std::string& op, const Window& w) {
  const bool max = op == "MaxPool";
  Val out = moved(x, {x.dims[0], x.dims[1]});
  out.exact = x.exact && max;
  out.dims.insert(out.dims.end(), w.out.begin(), w.out.end());
  if (std::any_of(w.out.begin(), w.out.end(), [](std::int64_t d) { return d <= 0; })) return std::nullopt;
  NodeSketch node = s.node(op, {x.name}, out);
  write_window(s, node, w, true);
  if (w.ceil) node.integer("ceil_mode", 1);
  if (!max && s.chance(50)) node.integer("count_include_pad", s.between(0, 1));
  return out;
}

inline bool add_pool(Sketch& s) {
  const auto x = pick_image(s);
  if (!x || x->dtype != DType::float32) return false;
  if (s.chance(20)) {
    Val out = *x;
    std::fill(out.dims.begin() + 2, out.dims.end(), 1);
    const bool max = s.chance(40);
    out.exact = x->exact && max;
    s.node(max ? "GlobalMaxPool" : "GlobalAveragePool", {x->name}, out);
    s.keep(out);
    return true;
  }
  const bool max = s.chance(60);
  const auto w = draw_window(s, *x, s.opset() >= (max ? 10 : 19), true, s.opset() >= 10);
  const auto out = w ? pool(s, *x, max ? "MaxPool" : "AveragePool", *w) : std::nullopt;
  if (!out) return false;
  s.keep(*out);
  return true;
}

inline bool add_norm(Sketch& s) {
  const auto x = s.pick_real(2, 4);
  if (!x || std::any_of(x->dims.begin() + 1, x->dims.end(), [](std::int64_t d) { return d <= 0; }) ||
      x->count() == 0 || x->dtype == DType::float64)
    return false;  // the runtime crashes on empty ones
  const std::int64_t channels = x->dims[1];
  const std::vector<std::string> ops{"BatchNormalization", "BatchNormalization", "InstanceNormalization",
                                     "LayerNormalization", "LRN"};
  const std::string& op = s.one_of(ops);
  Val out = like(*x, 2);
  if (op == "LayerNormalization") {
    if (s.opset() < 17) return false;
    const std::int64_t axis = s.chance(70) ? -1 : s.between(1, static_cast<std::int64_t>(x->rank()) - 1);
    const Dims dims(x->dims.begin() + static_cast<std::ptrdiff_t>(at_axis(axis, x->rank())), x->dims.end());
    std::vector<std::string> inputs{x->name, s.positive_weight(dims)};
    if (s.chance(70)) inputs.push_back(s.chance(20) ? s.filled(dims, 0) : s.weight(dims));
    NodeSketch node = s.node(op, inputs, out);
    if (axis != -1 || s.chance(50)) node.integer("axis", axis);
    if (s.chance(60)) node.real("epsilon", 1e-3);
  } else if (op == "BatchNormalization") {
    if (x->dtype != DType::float32) return false;
    NodeSketch node = s.node(op,
                             {x->name, s.positive_weight({channels}), s.weight({channels}),
                              s.weight({channels}), s.positive_weight({channels})},
                             out);
    if (s.chance(60)) node.real("epsilon", 0.01);
    if (s.chance(30)) node.real("momentum", 0.8);
  } else if (op == "InstanceNormalization") {
    if (x->rank() < 3 || x->dtype != DType::float32) return false;
    s.node(op, {x->name, s.positive_weight({channels}), s.weight({channels})}, out).real("epsilon", 1e-2);
  } else {
    if (x->rank() != 4 || x->dtype != DType::float32) return false;
    s.node(op, {x->name}, out).integer("size", 3).real("alpha", 0.1);
  }
  s.keep(out);
  return true;
}

inline bool add_softmax(Sketch& s) {
  const auto x = s.pick_real(1, 4);
  if (!x) return false;
  Val out = like(*x, 1);
  const bool log = s.chance(25);
  NodeSketch node = s.node(log ? "LogSoftmax" : "Softmax", {x->name}, out);
  if (log) out.scale = 3;
  if (x->rank() == 1 && s.opset() < 13)
    node.integer("axis", 0);
  else if (s.chance(80))
    node.integer("axis", any_axis(s, x->rank()));
  s.keep(out);
  return true;
}

inline bool add_reduce(Sketch& s) {
  const auto x = s.pick_real(1, 4);
  if (!x) return false;
  const std::vector<std::string> ops{"ReduceMean", "ReduceMean", "ReduceSum",
                                     "ReduceMax",  "ReduceMin",  "ReduceL2"};
  const std::string& op = s.one_of(ops);
  std::vector<bool> gone(x->rank(), false);
  Dims axes;
  const bool all = x->fixed() && s.chance(10);
  for (std::size_t i = x->fixed() ? 0 : 1; i < x->rank(); ++i) {
    gone[i] = all || s.chance(40);
    const bool negative = s.opset() >= 11 && s.chance(30);
    const auto axis = static_cast<std::int64_t>(i);
    if (gone[i]) axes.push_back(negative ? axis - static_cast<std::int64_t>(x->rank()) : axis);
    if (gone[i] && x->dims[i] == 0) return false;
  }
  if (axes.empty()) return false;
  if (s.chance(30)) std::reverse(axes.begin(), axes.end());
  const bool keep = s.chance(50);
  Dims to;
  for (std::size_t i = 0; i < x->rank(); ++i) {
    if (!gone[i]) to.push_back(x->dims[i]);
    if (gone[i] && keep) to.push_back(1);
  }
  Val out = moved(*x, to);
  out.exact = x->exact && (op == "ReduceMax" || op == "ReduceMin");
  out.positive = false;
  if (op == "ReduceSum" || op == "ReduceL2") out.scale *= std::sqrt(static_cast<double>(x->count()));
  const std::int64_t input_since = op == "ReduceSum" ? 13 : 18;
  const bool as_input = s.opset() >= input_since;
  NodeSketch node =
      s.node(op, as_input && !all ? std::vector{x->name, s.ints(axes)} : std::vector{x->name}, out);
  if (!as_input && !all) node.ints("axes", axes);
  if (as_input && s.chance(20)) node.integer("noop_with_empty_axes", 0);
  if (!keep || s.chance(50)) node.integer("keepdims", keep ? 1 : 0);
  s.keep(out);
  return true;
}

}
