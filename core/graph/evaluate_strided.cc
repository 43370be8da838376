#include "core/graph/evaluate_strided.h"

#include <algorithm>
#include <numeric>

namespace regraft::graph {
namespace {

using Dims64 = std::vector<std::int64_t>;

/// Drops dims of size 1 and joins neighbours that run on.
StridedView simplified(const StridedView& view) {
  StridedView simple;
  simple.offset = view.offset;
  for (std::size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 1) continue;
    const bool joins = !simple.dims.empty() && simple.strides.back() == view.strides[i] * view.dims[i];
    if (joins) {
      simple.dims.back() *= view.dims[i];
      simple.strides.back() = view.strides[i];
    } else {
      simple.dims.push_back(view.dims[i]);
      simple.strides.push_back(view.strides[i]);
    }
  }
  return simple;
}

constexpr std::int64_t kBlock = 16;  // elements a side: 16 cache lines of source and of target

/// out[i * out_step + j] = in[i * step_i + j * step_j] in square blocks.
template <typename T>
void copy_plane(const T* in, T* out, std::int64_t rows, std::int64_t columns, std::int64_t step_i,
                std::int64_t step_j, std::int64_t out_step) {
  for (std::int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (std::int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (std::int64_t i = i0; i < std::min(rows, i0 + kBlock); ++i)
        for (std::int64_t j = j0; j < std::min(columns, j0 + kBlock); ++j)
          out[i * out_step + j] = in[i * step_i + j * step_j];
}

/// Writes a view densely; the dim `plane_` is walked together with the last one, in blocks.
template <typename T>
class StridedCopy {
 public:
  StridedCopy(const StridedView& view, const T* in, T* out) : view_(view), in_(in), out_(out) {
    const std::size_t rank = view_.dims.size();
    out_strides_ = strides_of(view_.dims);
    plane_ = rank;
    // The dim that is dense in the source, when it is not the last.
    for (std::size_t i = 0; i + 1 < rank; ++i)
      if (view_.strides[i] == 1) plane_ = i;
    if (rank >= 2 && plane_ == rank) plane_ = rank - 2;
  }

  void run() {
    const std::size_t rank = view_.dims.size();
    if (rank == 0) {
      out_[0] = in_[view_.offset];
    } else if (rank == 1) {
      copy_plane(in_ + view_.offset, out_, 1, view_.dims[0], 0, view_.strides[0], 0);
    } else {
      walk(0, view_.offset, 0);
    }
  }

 private:
  void walk(std::size_t axis, std::int64_t in_at, std::int64_t out_at) {
    const std::size_t last = view_.dims.size() - 1;
    if (axis == plane_) return walk(axis + 1, in_at, out_at);
    if (axis >= last) {
      copy_plane(in_ + in_at, out_ + out_at, view_.dims[plane_], view_.dims[last], view_.strides[plane_],
                 view_.strides[last], out_strides_[plane_]);
      return;
    }
    for (std::int64_t i = 0; i < view_.dims[axis]; ++i)
      walk(axis + 1, in_at + i * view_.strides[axis], out_at + i * out_strides_[axis]);
  }

  StridedView view_;
  const T* in_;
  T* out_;
  Dims64 out_strides_;
  std::size_t plane_ = 0;
};

using DimsView = std::span<const std::int64_t>;

Movement renamed(OpKind kind, DimsView from, Dims64 to) {
  if (element_count(from) != element_count(to)) refuse(kind, "changes the size");
  return {{to, strides_of(to), 0}, to};
}

/// ONNX Reshape: 0 copies a dim, -1 takes what is left.
Dims64 target_shape(DimsView from, const Ints& shape) {
  Dims64 dims(shape);
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) {
      if (i >= from.size()) refuse(OpKind::reshape, "copies a dim that the input lacks");
      dims[i] = from[i];
    }
    if (dims[i] != -1) known *= dims[i];
  }
  const auto left = std::find(dims.begin(), dims.end(), -1);
  if (left != dims.end()) *left = known == 0 ? 0 : element_count(from) / known;
  return dims;
}

bool names(const Ints& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

Dims64 without_axes(DimsView from, const Ints& axes) {
  Dims64 dims;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!names(axes, i)) dims.push_back(from[i]);
  return dims;
}

Dims64 with_axes(DimsView from, const Ints& axes) {
  Dims64 dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size() + axes.size(); ++i) {
    if (!names(axes, i) && next == from.size()) refuse(OpKind::unsqueeze, "names an axis past the end");
    dims.push_back(names(axes, i) ? 1 : from[next++]);
  }
  return dims;
}

Movement transposed(const Ints& perm, DimsView from) {
  if (perm.size() != from.size()) refuse(OpKind::transpose, "perm does not fit the rank");
  const Dims64 strides = strides_of(from);
  StridedView view;
  for (const std::int64_t axis : perm) {
    view.dims.push_back(from[static_cast<std::size_t>(axis)]);
    view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return {view, view.dims};
}

Movement sliced(const AttrBlock& attrs, DimsView from) {
  const Ints &starts = attrs.ints(Attr::starts), &ends = attrs.ints(Attr::ends),
             &axes = attrs.ints(Attr::axes), &steps = attrs.ints(Attr::steps);
  StridedView view{Dims64(from.begin(), from.end()), strides_of(from), 0};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t span = steps[i] > 0 ? ends[i] - starts[i] : starts[i] - ends[i];
    const std::int64_t step = std::abs(steps[i]);
    view.dims.at(axis) = span <= 0 ? 0 : (span + step - 1) / step;
    view.offset += starts[i] * view.strides[axis];
    view.strides[axis] *= steps[i];
  }
  return {view, view.dims};
}

Movement split_part(const AttrBlock& attrs, DimsView from, std::size_t part) {
  const Ints& sizes = attrs.ints(Attr::split);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  const auto at = static_cast<std::ptrdiff_t>(part);
  if (part >= sizes.size() || axis >= from.size()) refuse(OpKind::split, "has no such part");
  const std::int64_t start = std::accumulate(sizes.begin(), sizes.begin() + at, std::int64_t{0});
  if (start + sizes[part] > from[axis]) refuse(OpKind::split, "the parts are larger than the whole");
  StridedView view{Dims64(from.begin(), from.end()), strides_of(from), 0};
  view.dims[axis] = sizes[part];
  view.offset = start * view.strides[axis];
  return {view, view.dims};
}

Movement expanded(const Ints& shape, DimsView from) {
  HostTensor x, wanted;
  x.dims.assign(from.begin(), from.end());
  wanted.dims = shape;
  const HostTensor* both[] = {&x, &wanted};
  const Dims64 dims = broadcast_dims(OpKind::expand, both);
  return {{dims, broadcast_strides(from, dims), 0}, dims};
}

Movement tiled(const Ints& repeats, DimsView from) {
  if (repeats.size() != from.size()) refuse(OpKind::tile, "repeats do not fit the rank");
  const Dims64 strides = strides_of(from);
  Movement movement;
  for (std::size_t i = 0; i < from.size(); ++i) {
    movement.view.dims.insert(movement.view.dims.end(), {repeats[i], from[i]});
    movement.view.strides.insert(movement.view.strides.end(), {0, strides[i]});
    movement.dims.push_back(repeats[i] * from[i]);
  }
  return movement;
}

}  // namespace

bool is_strided_movement(OpKind kind) {
  switch (kind) {
    case OpKind::identity:
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
    case OpKind::transpose:
    case OpKind::slice:
    case OpKind::split:
    case OpKind::expand:
    case OpKind::resize:
    case OpKind::tile:
      return true;
    default:
      return false;
  }
}

Movement strided_movement(OpKind kind, const AttrBlock& attrs, DimsView dims, std::size_t part) {
  switch (kind) {
    case OpKind::identity:
      return renamed(kind, dims, Dims64(dims.begin(), dims.end()));
    case OpKind::reshape:
      return renamed(kind, dims, target_shape(dims, attrs.ints(Attr::shape)));
    case OpKind::flatten: {
      const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
      return renamed(kind, dims, {element_count(dims.first(axis)), element_count(dims.subspan(axis))});
    }
    case OpKind::squeeze:
      return renamed(kind, dims, without_axes(dims, attrs.ints(Attr::axes)));
    case OpKind::unsqueeze:
      return renamed(kind, dims, with_axes(dims, attrs.ints(Attr::axes)));
    case OpKind::transpose:
      return transposed(attrs.ints(Attr::perm), dims);
    case OpKind::slice:
      return sliced(attrs, dims);
    case OpKind::split:
      return split_part(attrs, dims, part);
    case OpKind::expand:
      return expanded(attrs.ints(Attr::shape), dims);
    case OpKind::resize: {
      if (dims.size() < 2) refuse(kind, "the sizes do not fit the rank");
      Ints shape(dims.begin(), dims.begin() + 2);
      const Ints& sizes = attrs.ints(Attr::shape);
      shape.insert(shape.end(), sizes.begin(), sizes.end());
      return expanded(shape, dims);
    }
    case OpKind::tile:
      return tiled(attrs.ints(Attr::repeats), dims);
    default:
      refuse(kind, "is no movement of one tensor");
  }
}

bool is_dense(const StridedView& view, std::int64_t source_elements) {
  return view.offset == 0 && view.strides == strides_of(view.dims) &&
         element_count(view.dims) == source_elements;
}

template <typename T>
void copy_strided(const StridedView& view, const T* in, T* out) {
  if (element_count(view.dims) > 0) StridedCopy<T>(simplified(view), in, out).run();
}

template void copy_strided(const StridedView&, const std::uint8_t*, std::uint8_t*);
template void copy_strided(const StridedView&, const std::uint16_t*, std::uint16_t*);
template void copy_strided(const StridedView&, const std::uint32_t*, std::uint32_t*);
template void copy_strided(const StridedView&, const std::uint64_t*, std::uint64_t*);
template void copy_strided(const StridedView&, const std::int64_t*, std::int64_t*);
template void copy_strided(const StridedView&, const double*, double*);

}
