#include "core/onnx/opaque_moves.h"

#include <cmath>
#include <limits>

#include "core/graph/derived_dims.h"

namespace regraft::onnx {

using graph::Dim;
using graph::TensorType;

namespace {

/// A dim by the scale of a Resize.
Dim scaled(const Question& q, Dim dim, double scale) {
  if (!graph::is_symbol(dim) && scale > 0 && scale < 0x1p20)
    return static_cast<Dim>(std::floor(static_cast<float>(dim) * static_cast<float>(scale)));
  if (scale == std::floor(scale) && scale >= 1 && scale < 0x1p20)
    return graph::product_dim(q.tables(), graph::Dims{dim, static_cast<Dim>(scale)});
  return q.fresh();
}

/// Two-axis block moves; `sign` is +1 for DepthToSpace.
Answer block_move(const Question& q, bool to_space) {
  TensorType type = q.input(0);
  const std::int64_t block = q.integer("blocksize", 0);
  constexpr std::int64_t kLargestBlock = 1 << 15;
  if (!type.is_static() || type.rank() != 4 || block <= 0 || block > kLargestBlock) return same_rank(q);
  const std::int64_t area = block * block;
  std::int64_t &channels = type.dims[1], &rows = type.dims[2], &columns = type.dims[3];
  const bool exact = to_space ? channels % area == 0 : rows % block == 0 && columns % block == 0;
  if (!exact || !type.element_count()) return same_rank(q);
  channels = to_space ? channels / area : channels * area;
  rows = to_space ? rows * block : rows / block;
  columns = to_space ? columns * block : columns / block;
  return {type};
}
}  // namespace

Answer resize(const Question& q) {
  constexpr std::size_t kSizes = 3;
  constexpr std::string_view kPolicy = "keep_aspect_ratio_policy";
  const TensorType x = q.input(0);
  TensorType type = q.same_rank(0);
  if (q.has("axes") || (q.has(kPolicy) && !q.has_text(kPolicy, "stretch"))) return {type};
  const Elements sizes = q.elements(kSizes);
  const std::vector<double> scales = q.reals(q.inputs() == 2 ? 1 : 2);
  for (std::size_t i = 0; i < type.rank(); ++i) {
    if (sizes.size() == type.rank() && sizes[i].is_dim()) type.dims[i] = sizes[i].value;
    if (sizes.empty() && scales.size() == type.rank()) type.dims[i] = scaled(q, x.dims[i], scales[i]);
  }
  return {type};
}

Answer slice(const Question& q) {
  const Elements starts = q.elements(1), ends = q.elements(2), axes = q.elements(3), steps = q.elements(4);
  const auto rank = static_cast<std::int64_t>(q.input(0).rank());
  if (axes.empty() || starts.size() != axes.size() || ends.size() != axes.size()) return same_rank(q);
  TensorType type = q.input(0);
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i].value + (axes[i].value < 0 ? rank : 0);
    if (!axes[i].is_number() || axis < 0 || axis >= rank) return same_rank(q);
    const bool from_the_last =
        starts[i] == graph::Element::number(-1) || (starts[i].is_number() && starts[i].value >= kFar);
    const bool turned = from_the_last && ends[i].is_number() && ends[i].value <= -kFar && i < steps.size() &&
                        steps[i] == graph::Element::number(-1);
    if (!turned) type.dims[static_cast<std::size_t>(axis)] = q.fresh();
  }
  return {type};
}

Answer split(const Question& q) {
  const auto axis = q.axis(0);
  if (!axis) return same_rank(q);
  const Elements sizes = q.elements(1);
  Answer parts(q.outputs(), q.input(0));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Dim& dim = parts[i].dims[*axis];
    const auto count = static_cast<Dim>(parts.size());
    if (sizes.size() == parts.size() && sizes[i].is_dim())
      dim = sizes[i].value;
    else if (q.inputs() == 1 && !q.has("split") && !q.has("num_outputs"))
      dim = graph::quotient_dim(q.tables(), graph::op_info(graph::OpKind::split), graph::Dims{dim},
                                graph::Dims{count});
    else
      dim = q.fresh();
  }
  return parts;
}

Answer gather_nd(const Question& q) {
  const TensorType data = q.input(0), indices = q.input(1);
  const std::int64_t batch = q.integer("batch_dims", 0);
  if (!data.ranked || indices.rank() == 0 || graph::is_symbol(indices.dims.back()))
    return {unranked(data.dtype)};
  const auto rank = static_cast<std::int64_t>(data.rank());
  if (batch < 0 || batch > rank || indices.dims.back() > rank - batch) return {unranked(data.dtype)};
  const std::int64_t first = batch + indices.dims.back();  // dim of the data that stays whole
  TensorType type = of_dtype(data.dtype, indices);
  type.dims.pop_back();
  for (auto i = static_cast<std::size_t>(first); i < data.rank(); ++i) type.dims.push_back(data.dims[i]);
  return {type};
}

Answer depth_to_space(const Question& q) {
  return block_move(q, true);
}
Answer space_to_depth(const Question& q) {
  return block_move(q, false);
}

}
