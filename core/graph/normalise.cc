#include <algorithm>

#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

std::optional<std::size_t> rank_of(const Tables& tables, Operands operands, std::size_t i) {
  const TensorType& type = operand_type(tables, operands, i);
  return type.ranked ? std::optional(type.rank()) : std::nullopt;
}

using Few = InlineVector<std::int64_t, 8>;

Few few(const Ints& values) {
  return Few(std::span<const std::int64_t>(values));
}

/// Sets a list where it is another than before; else the block keeps it, with its memory.
void settle(AttrBlock& attrs, Attr attr, const Few& values) {
  if (attrs.has(attr) && std::ranges::equal(attrs.ints(attr), values)) return;
  attrs.set(attr, Ints(values.begin(), values.end()));
}

void resolve_axes(const OpInfo& op, AttrBlock& attrs, std::size_t rank) {
  Few axes = few(attrs.ints(Attr::axes));
  for (std::int64_t& axis : axes) axis = resolve_axis(op, axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail(op, "an axis is named twice");
  settle(attrs, Attr::axes, axes);
}

}  // namespace

void normalise_axis(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const auto rank = rank_of(tables, operands, 0);
  if (!rank) {
    if (attrs.integer(Attr::axis) < 0) fail(op, "axis counts from the end of an unknown rank");
    return;
  }
  attrs.set(Attr::axis, resolve_axis(op, attrs.integer(Attr::axis), *rank));
}

void normalise_axis_past_end(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const auto rank = rank_of(tables, operands, 0);
  if (!rank) fail(op, "the rank is unknown");
  attrs.set(Attr::axis, resolve_axis(op, attrs.integer(Attr::axis), *rank, true));
}

void normalise_window(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const bool weighted = op.kind == OpKind::conv || op.kind == OpKind::conv_transpose;
  const TensorType& shaped = operand_type(tables, operands, weighted ? 1 : 0);
  if (!shaped.ranked || shaped.rank() < 3) fail(op, "the rank is unknown or less than 3");
  const std::size_t n = shaped.rank() - 2;
  if (!attrs.has(Attr::kernel_shape)) {
    Ints kernel(shaped.dims.begin() + 2, shaped.dims.end());
    if (!weighted || std::any_of(kernel.begin(), kernel.end(), is_symbol))
      fail(op, "kernel_shape is missing");
    attrs.set(Attr::kernel_shape, std::move(kernel));
  }
  if (!attrs.has(Attr::strides)) attrs.set(Attr::strides, Ints(n, 1));
  if (!attrs.has(Attr::pads)) attrs.set(Attr::pads, Ints(2 * n, 0));
  if (!attrs.has(Attr::dilations)) attrs.set(Attr::dilations, Ints(n, 1));
  if (op.kind == OpKind::conv_transpose && !attrs.has(Attr::output_padding))
    attrs.set(Attr::output_padding, Ints(n, 0));
}

void normalise_reduce(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const auto rank = rank_of(tables, operands, 0);
  const bool given_at_run_time = has_operand(operands, 1);
  if (!rank || given_at_run_time) return;
  if (!attrs.has(Attr::axes) || attrs.ints(Attr::axes).empty()) {  // ONNX: none means all
    Ints all(*rank);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    attrs.set(Attr::axes, std::move(all));
  }
  resolve_axes(op, attrs, *rank);
}

void normalise_reshape(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  if (!attrs.has(Attr::shape)) return;
  const TensorType out = tables.type(infer_reshape(tables, op, attrs, operands)[0]);
  if (out.is_static()) settle(attrs, Attr::shape, Few(std::span<const Dim>(out.dims)));
}

void normalise_transpose(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  if (attrs.has(Attr::perm)) return;
  const auto rank = rank_of(tables, operands, 0);
  if (!rank) fail(op, "the rank is unknown");
  Ints perm(*rank);
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(*rank - 1 - i);
  attrs.set(Attr::perm, std::move(perm));
}

void normalise_squeeze(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const TensorType& x = operand_type(tables, operands, 0);
  if (!x.ranked || has_operand(operands, 1)) return;
  if (!attrs.has(Attr::axes)) {
    if (!x.is_static()) fail(op, "no axes are given and dims are unknown");
    Ints ones;
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (x.dims[i] == 1) ones.push_back(static_cast<std::int64_t>(i));
    attrs.set(Attr::axes, std::move(ones));
  }
  resolve_axes(op, attrs, x.rank());
}

void normalise_unsqueeze(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const auto rank = rank_of(tables, operands, 0);
  if (rank && attrs.has(Attr::axes)) resolve_axes(op, attrs, *rank + attrs.ints(Attr::axes).size());
}

void normalise_split(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  normalise_axis(tables, op, attrs, operands);
  if (!attrs.has(Attr::split)) fail(op, "sizes of the parts are unknown");
}

void normalise_slice(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const TensorType& x = operand_type(tables, operands, 0);
  if (!attrs.has(Attr::starts) || !attrs.has(Attr::ends) || !x.ranked) return;
  Few starts = few(attrs.ints(Attr::starts)), ends = few(attrs.ints(Attr::ends));
  const std::size_t n = starts.size();
  Few axes(n, 0);
  for (std::size_t i = 0; i < n; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (attrs.has(Attr::axes)) axes = few(attrs.ints(Attr::axes));
  Few steps = attrs.has(Attr::steps) ? few(attrs.ints(Attr::steps)) : Few(n, 1);
  if (ends.size() != n || axes.size() != n || steps.size() != n)
    fail(op, "starts, ends, axes and steps differ in length");
  for (std::size_t i = 0; i < n; ++i) {
    axes[i] = resolve_axis(op, axes[i], x.rank());
    if (steps[i] <= 0) fail(op, "only positive steps have a canonical form");
    const Dim dim = x.dims[static_cast<std::size_t>(axes[i])];
    if (is_symbol(dim)) continue;
    const auto clamp = [dim](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + dim : at, 0, dim);
    };
    starts[i] = clamp(starts[i]);
    ends[i] = clamp(ends[i]);
  }
  // Axes of which all is taken are left out, but for the last one left.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Dim dim = x.dims[static_cast<std::size_t>(axes[i])];
    const bool whole =
        steps[i] == 1 && starts[i] == 0 && (is_symbol(dim) ? ends[i] >= kPastAnyEnd : ends[i] == dim);
    if (whole && (kept > 0 || i + 1 < n)) continue;
    starts[kept] = starts[i], ends[kept] = ends[i], axes[kept] = axes[i], steps[kept] = steps[i];
    ++kept;
  }
  starts.resize(kept), ends.resize(kept), axes.resize(kept), steps.resize(kept);
  settle(attrs, Attr::starts, starts);
  settle(attrs, Attr::ends, ends);
  settle(attrs, Attr::axes, axes);
  settle(attrs, Attr::steps, steps);
}

void normalise_pad(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  const auto rank = rank_of(tables, operands, 0);
  if (!rank || !attrs.has(Attr::pads) || !attrs.has(Attr::axes)) return;
  const Ints axes = attrs.ints(Attr::axes), given = attrs.ints(Attr::pads);
  if (given.size() != 2 * axes.size()) fail(op, "pads and axes differ in length");
  Ints pads(2 * *rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(resolve_axis(op, axes[i], *rank));
    pads[axis] = given[i];
    pads[axis + *rank] = given[i + axes.size()];
  }
  attrs.set(Attr::pads, std::move(pads));
  attrs.erase(Attr::axes);
}

}
