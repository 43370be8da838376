#pragma once

// Internal to core/graph: movement of elements as strided copies, whatever the elements are.

#include <cstdint>
#include <vector>

#include "core/graph/evaluate_ops.h"

namespace regraft::graph {

struct StridedView {
  std::vector<std::int64_t> dims,
      strides;  // strides in elements of the source; 0 repeats, negative runs backwards
  std::int64_t offset = 0;
};

/// What an op that moves the elements of one tensor makes of dims `dims`: which element goes where, and the
/// dims of the result (of part `part` for Split). Ops that only rename dims give a dense view. Throws
/// GraphError.
struct Movement {
  StridedView view;
  std::vector<std::int64_t> dims;
};
bool is_strided_movement(OpKind kind);
Movement strided_movement(OpKind kind, const AttrBlock& attrs, std::span<const std::int64_t> dims,
                          std::size_t part);

/// Whether the view takes all elements in the order they have.
bool is_dense(const StridedView& view, std::int64_t source_elements);

/// Writes the elements of a view one after the other. T: std::uint8_t, 16, 32, 64, double or std::int64_t.
template <typename T>
void copy_strided(const StridedView& view, const T* in, T* out);

}
