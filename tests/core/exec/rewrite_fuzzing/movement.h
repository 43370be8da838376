#pragma once

// Ops that move elements, in the forms of all opsets.

#include <limits>
#include <numeric>

#include "core/exec/rewrite_fuzzing/elementwise.h"

namespace regraft::exec::rewrite_fuzzing {

inline Val moved(const Val& v, Dims dims) {
  return {"", v.dtype, std::move(dims), v.scale, v.exact, v.positive};
}

inline std::optional<Val> pick_fixed(Sketch& s, std::size_t low_rank, std::size_t high_rank = 9) {
  return s.pick([&](const Val& v) {
    return v.dtype == s.real() && v.fixed() && v.rank() >= low_rank && v.rank() <= high_rank;
  });
}

inline std::int64_t any_axis(Sketch& s, std::size_t rank, std::int64_t negative_since = 11) {
  const auto axis = s.between(0, static_cast<std::int64_t>(rank) - 1);
  return s.opset() >= negative_since && s.chance(35) ? axis - static_cast<std::int64_t>(rank) : axis;
}

inline std::size_t at_axis(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

inline Val transpose(Sketch& s, const Val& x, const Dims& perm) {
  Dims dims;
  for (const std::int64_t from : perm) dims.push_back(x.dims[static_cast<std::size_t>(from)]);
  Val out = moved(x, dims);
  s.node("Transpose", {x.name}, out).ints("perm", perm);
  return out;
}

inline bool add_transpose(Sketch& s) {
  const auto x = pick_fixed(s, 1, 5);
  if (!x) return false;
  Dims perm(x->rank());
  std::iota(perm.begin(), perm.end(), 0);
  if (s.chance(15)) {
    Dims dims(x->dims.rbegin(), x->dims.rend());
    Val out = moved(*x, dims);
    s.node("Transpose", {x->name}, out);  // without perm: reversed
    s.keep(out);
    return true;
  }
  for (std::size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[s.rng().below(i)]);
  s.keep(transpose(s, *x, perm));
  return true;
}

inline Val reshape(Sketch& s, const Val& x, const Dims& to, const Dims& written) {
  Val out = moved(x, to);
  s.node("Reshape", {x.name, s.ints(written)}, out);
  return out;
}

/// Merges neighbours, splits one dim, adds ones; written with 0 and -1 at times.
inline bool add_reshape(Sketch& s) {
  const auto x = s.pick_real(1, 5);
  if (!x) return false;
  const std::size_t first = x->fixed() ? 0 : 1;
  Dims to = x->dims;
  for (std::int64_t steps = s.between(1, 2); steps > 0; --steps) {
    if (to.size() <= first) break;
    const auto at = static_cast<std::size_t>(
        s.between(static_cast<std::int64_t>(first), static_cast<std::int64_t>(to.size()) - 1));
    const auto here = to.begin() + static_cast<std::ptrdiff_t>(at);
    if (s.chance(40) && at + 1 < to.size()) {
      to[at] *= to[at + 1];
      to.erase(here + 1);
    } else if (s.chance(60) && to[at] % 2 == 0) {
      to[at] /= 2;
      to.insert(here + (s.chance(50) ? 1 : 0), 2);
    } else if (to.size() < 6) {
      to.insert(here, 1);
    }
  }
  Dims written = to;
  if (first == 1) {
    written[0] = 0;
  } else if (!written.empty() && s.chance(40)) {
    written[s.rng().below(written.size())] = -1;
  }
  for (std::size_t i = 0; i < written.size() && i < x->rank(); ++i)
    if (written[i] == x->dims[i] && s.chance(20)) written[i] = 0;
  s.keep(reshape(s, *x, to, written));
  return true;
}

/// A Reshape whose shape is computed from Shape, as exporters write it.
inline bool add_computed_reshape(Sketch& s) {
  const auto x = s.pick_real(2, 4);
  if (!x) return false;
  Val shape{"", DType::int64, {static_cast<std::int64_t>(x->rank())}, 1, true, false};
  s.node("Shape", {x->name}, shape);
  Val first{"", DType::int64, {}, 1, true, false};
  s.node("Gather", {shape.name, s.ints({0}, true)}, first).integer("axis", 0);
  Val row = first;
  row.dims = {1};
  if (s.opset() < 13)
    s.node("Unsqueeze", {first.name}, row).ints("axes", {0});
  else
    s.node("Unsqueeze", {first.name, s.ints({0})}, row);
  Val target{"", DType::int64, {2}, 1, true, false};
  s.node("Concat", {row.name, s.ints({-1})}, target).integer("axis", 0);
  std::int64_t rest = 1;
  for (std::size_t i = 1; i < x->rank(); ++i) rest *= x->dims[i];
  Val out = moved(*x, {x->dims[0], rest});
  s.node("Reshape", {x->name, target.name}, out);
  s.keep(out);
  return true;
}

inline bool add_flatten(Sketch& s) {
  const auto x = pick_fixed(s, 1, 5);
  if (!x) return false;
  const auto axis = s.between(0, static_cast<std::int64_t>(x->rank()));
  Dims to{1, 1};
  for (std::size_t i = 0; i < x->rank(); ++i) to[static_cast<std::int64_t>(i) < axis ? 0 : 1] *= x->dims[i];
  const auto rank = static_cast<std::int64_t>(x->rank());
  Val out = moved(*x, to);
  NodeSketch node = s.node("Flatten", {x->name}, out);
  const bool negative = s.opset() >= 11 && axis < rank && s.chance(40);
  if (axis != 1 || s.chance(50)) node.integer("axis", negative ? axis - rank : axis);
  s.keep(out);
  return true;
}

/// Squeeze and Unsqueeze, as a pair or alone; axes are an attribute before opset 13, an input from then on.
inline bool add_squeeze(Sketch& s) {
  const auto x = s.pick_real(1, 5);
  if (!x) return false;
  std::vector<std::size_t> ones;
  for (std::size_t i = 0; i < x->rank(); ++i)
    if (x->dims[i] == 1) ones.push_back(i);
  const auto with_axes = [&](const std::string& op, const Dims& axes, Val& out) {
    if (s.opset() < 13)
      s.node(op, {x->name}, out).ints("axes", axes);
    else
      s.node(op, {x->name, s.ints(axes)}, out);
  };
  if (!ones.empty() && s.chance(60)) {
    const std::size_t at = s.one_of(ones);
    Dims to = x->dims;
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(at));
    Val out = moved(*x, to);
    const bool negative = s.opset() >= 11 && s.chance(30);
    const auto axis = static_cast<std::int64_t>(at) - (negative ? static_cast<std::int64_t>(x->rank()) : 0);
    with_axes("Squeeze", {axis}, out);
    s.keep(out);
    return true;
  }
  const auto at = s.between(x->fixed() ? 0 : 1, static_cast<std::int64_t>(x->rank()));
  Dims to = x->dims;
  to.insert(to.begin() + at, 1);
  Val out = moved(*x, to);
  const bool negative = s.opset() >= 11 && s.chance(30);
  with_axes("Unsqueeze", {negative ? at - static_cast<std::int64_t>(to.size()) : at}, out);
  s.keep(out);
  return true;
}

inline bool add_concat(Sketch& s) {
  const auto x = s.pick_real(1, 5);
  if (!x) return false;
  const std::int64_t axis = any_axis(s, x->rank());
  const std::size_t at = at_axis(axis, x->rank());
  if (x->dims[at] == kSymbol) return false;
  Val out = *x;
  std::vector<std::string> inputs{x->name};
  for (std::int64_t more = s.between(x->dims[at] == 0 ? 1 : 0, 3); more > 0; --more) {
    const auto y = s.pick([&](const Val& v) {
      if (v.dtype != x->dtype || v.rank() != x->rank() || v.dims[at] == kSymbol) return false;
      for (std::size_t i = 0; i < v.rank(); ++i)
        if (i != at && v.dims[i] != x->dims[i]) return false;
      return true;
    });
    Val part = *y;
    if (x->fixed() && s.chance(15)) {
      part = moved(*x, x->dims);
      part.name = s.weight(x->dims);
    }
    if (out.count() + part.count() > 3000) break;
    inputs.push_back(part.name);
    out.dims[at] += part.dims[at];
    out.scale = std::max(out.scale, part.scale);
    out.exact = out.exact && part.exact;
    out.positive = out.positive && part.positive;
  }
  s.node("Concat", inputs, out).integer("axis", axis);
  s.keep(out);
  return true;
}

/// Sizes of parts of a dim, 2 or 3 of them; nothing where it is too small.
inline std::optional<Dims> parts_of(Sketch& s, std::int64_t dim) {
  const std::int64_t count = s.between(2, 3);
  if (dim < count) return std::nullopt;
  if (dim % count == 0 && s.chance(60)) return Dims(static_cast<std::size_t>(count), dim / count);
  Dims parts;
  std::int64_t rest = dim;
  for (std::int64_t i = count - 1; i > 0; --i) {
    parts.push_back(s.between(1, rest - i));
    rest -= parts.back();
  }
  parts.push_back(rest);
  return parts;
}

inline std::optional<std::vector<Val>> split(Sketch& s, const Val& x, std::int64_t axis) {
  const std::size_t at = at_axis(axis, x.rank());
  const auto parts = x.dims[at] == kSymbol ? std::nullopt : parts_of(s, x.dims[at]);
  if (!parts) return std::nullopt;
  const bool equal = std::adjacent_find(parts->begin(), parts->end(), std::not_equal_to<>()) == parts->end();
  const bool unsaid = equal && s.chance(50);
  std::vector<Val> outs;
  std::vector<std::string> names;
  for (const std::int64_t part : *parts) {
    Val& out = outs.emplace_back(moved(x, x.dims));
    out.dims[at] = part;
    names.push_back(out.name = s.fresh("part"));
  }
  std::vector<std::string> inputs{x.name};
  if (s.opset() >= 13 && !unsaid) inputs.push_back(s.ints(*parts));
  NodeSketch node = s.several("Split", inputs, names);
  if (s.opset() < 13 && !unsaid) node.ints("split", *parts);
  if (s.opset() >= 18 && unsaid) node.integer("num_outputs", static_cast<std::int64_t>(parts->size()));
  if (axis != 0 || s.chance(50)) node.integer("axis", axis);
  return outs;
}

inline bool add_split(Sketch& s) {
  const auto x = s.pick_real(1, 5);
  if (!x) return false;
  const auto parts = split(s, *x, any_axis(s, x->rank()));
  if (!parts) return false;
  for (const Val& part : *parts) s.keep(part);
  if (s.chance(30)) {  // and joined again, in order or not
    std::vector<std::string> names;
    for (const Val& part : *parts) names.push_back(part.name);
    if (s.chance(40)) std::reverse(names.begin(), names.end());
    std::size_t at = 0;
    while (at < x->rank() && x->dims[at] == (*parts)[0].dims[at]) ++at;
    Val out = moved(*x, x->dims);
    s.node("Concat", names, out).integer("axis", static_cast<std::int64_t>(at));
    s.keep(out);
  }
  return true;
}

inline bool add_slice(Sketch& s) {
  const auto x = s.pick_real(1, 5);
  if (!x) return false;
  const std::int64_t axis = any_axis(s, x->rank());
  const std::size_t at = at_axis(axis, x->rank());
  const std::int64_t dim = x->dims[at];
  if (dim == kSymbol || dim < 2) return false;
  std::int64_t begin = s.between(0, dim - 2), end = s.between(begin + 1, dim), step = 1;
  if (s.opset() >= 10 && s.chance(20)) step = s.chance(60) ? 2 : -1;
  Val out = moved(*x, x->dims);
  if (step < 0) std::swap(begin, --end);  // from the last one down
  out.dims[at] = step < 0 ? begin - end : (end - begin + step - 1) / step;
  if (step < 0) {
    end = s.chance(50) && begin - out.dims[at] < 0
              ? std::numeric_limits<std::int64_t>::min()
              : begin - out.dims[at] - (begin - out.dims[at] < 0 ? dim : 0);
  } else if (end == dim && s.chance(50)) {
    end = s.chance(50) ? std::numeric_limits<std::int64_t>::max() : dim + 5;
  }
  if (step > 0 && s.chance(30)) begin -= dim;
  if (out.dims[at] <= 0) return false;
  if (s.opset() < 10) {
    s.node("Slice", {x->name}, out).ints("starts", {begin}).ints("ends", {end}).ints("axes", {axis});
  } else {
    s.node("Slice",
           {x->name, s.ints({begin}), s.ints({end}), s.ints({axis}),
            step != 1 || s.chance(50) ? s.ints({step}) : ""},
           out);
  }
  s.keep(out);
  return true;
}

inline bool add_gather(Sketch& s) {
  const auto x = s.pick_real(1, 4);
  if (!x) return false;
  const std::int64_t axis = any_axis(s, x->rank());
  const std::size_t at = at_axis(axis, x->rank());
  const std::int64_t dim = x->dims[at];
  if (dim == kSymbol || dim == 0) return false;
  const bool scalar = s.chance(35);
  Dims index;
  for (std::int64_t i = scalar ? 1 : s.between(1, 3); i > 0; --i)
    index.push_back(s.between(s.opset() >= 11 && s.chance(30) ? -dim : 0, dim - 1));
  if (!scalar && s.chance(15)) {
    index.clear();
    for (std::int64_t i = 0; i < dim; ++i) index.push_back(i);
  }
  Dims to = x->dims;
  if (scalar)
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(at));
  else
    to[at] = static_cast<std::int64_t>(index.size());
  Val out = moved(*x, to);
  NodeSketch node = s.node("Gather", {x->name, s.ints(index, scalar)}, out);
  if (axis != 0 || s.chance(50)) node.integer("axis", axis);
  s.keep(out);
  return true;
}

/// A table of weights looked up by an integer input.
inline bool add_embedding(Sketch& s) {
  if (s.opset() < 9) return false;
  const std::int64_t rows = s.between(3, 7), width = s.between(2, 6);
  const Val index = s.input({s.between(1, 2), s.between(2, 4)}, DType::int64);
  Val out{"", s.real(), {index.dims[0], index.dims[1], width}, 1, true, false};
  s.node("Gather", {s.weight({rows, width}), index.name}, out);
  s.keep(out);
  return true;
}

inline bool add_expand_or_tile(Sketch& s) {
  const auto x = pick_fixed(s, 1, 4);
  if (!x || x->count() > 600) return false;
  Dims to = x->dims, repeats(x->rank(), 1);
  const std::size_t at = s.rng().below(x->rank());
  if (s.chance(50) && s.opset() >= 8) {
    if (x->dims[at] != 1) return false;
    to[at] = s.between(1, 3);
    Dims written = to;
    if (s.chance(30)) written[s.rng().below(written.size())] = 1;  // 1 keeps the dim
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(written[i], x->dims[i]);
    if (s.chance(30)) {
      written.insert(written.begin(), 2);
      to.insert(to.begin(), 2);
    }
    Val out = moved(*x, to);
    s.node("Expand", {x->name, s.ints(written)}, out);
    s.keep(out);
    return true;
  }
  repeats[at] = s.between(1, 3);
  to[at] *= repeats[at];
  Val out = moved(*x, to);
  s.node("Tile", {x->name, s.ints(repeats)}, out);
  s.keep(out);
  return true;
}

inline bool add_pad(Sketch& s) {
  const auto x = pick_fixed(s, 1, 4);
  if (!x || x->count() > 600 || x->dtype == DType::float16) return false;
  const std::vector<std::string> modes{"constant", "constant", "reflect", "edge"};
  const std::string& mode = s.one_of(modes);
  Dims pads(2 * x->rank(), 0), to = x->dims;
  for (std::size_t i = 0; i < x->rank(); ++i) {
    const std::int64_t limit = mode == "reflect" ? x->dims[i] - 1
                               : mode == "edge"  ? (x->dims[i] > 0 ? 2 : 0)
                                                 : 2;
    if (limit < 0) return false;
    pads[i] = s.chance(40) ? s.between(0, std::min<std::int64_t>(limit, 2)) : 0;
    pads[i + x->rank()] = s.chance(40) ? s.between(0, std::min<std::int64_t>(limit, 2)) : 0;
    if (mode == "constant" && x->dims[i] > 2 && s.chance(10)) pads[i] = -1;
    to[i] += pads[i] + pads[i + x->rank()];
  }
  Val out = moved(*x, to);
  out.positive = false;
  const bool valued = mode == "constant" && s.chance(60);
  if (s.opset() < 11) {
    if (x->dtype != DType::float32) return false;
    NodeSketch node = s.node("Pad", {x->name}, out);
    node.ints("pads", pads);
    if (mode != "constant" || s.chance(50)) node.text("mode", mode);
    if (valued) node.real("value", 0.5);
  } else {
    NodeSketch node = s.node("Pad", {x->name, s.ints(pads), valued ? s.filled({}, 0.5) : ""}, out);
    if (mode != "constant" || s.chance(50)) node.text("mode", mode);
  }
  s.keep(out);
  return true;
}

}
