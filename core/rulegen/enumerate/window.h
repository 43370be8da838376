#pragma once

// Internal to core/rulegen: index arithmetic of dense tensors and of the windows of convolutions and pools.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/graph/op.h"

namespace regraft::rulegen {

std::int64_t element_count(const std::vector<std::int64_t>& dims);
/// Strides (elements) of a tensor of `dims`, aligned from the right with `out`; 0 where it is repeated.
std::vector<std::int64_t> aligned_strides(const std::vector<std::int64_t>& dims,
                                          const std::vector<std::int64_t>& out);
std::size_t dot(const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& at);

/// Calls visit(index, flat number) for all indices, row-major.
template <typename Visit>
void for_each_index(const std::vector<std::int64_t>& dims, Visit visit) {
  std::vector<std::int64_t> at(dims.size(), 0);
  const auto count = static_cast<std::size_t>(element_count(dims));
  for (std::size_t flat = 0; flat < count; ++flat) {
    visit(at, flat);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
}

/// A convolution's or pool's way over an image; all lists are of spatial dims.
struct Window {
  std::vector<std::int64_t> image, kernel, strides, pads, dilations, out;
  std::vector<std::int64_t> framed;  // of each place: elements of the window inside image and padding
};
/// `dims` are the operand's, batch and channels included.
Window window_of(graph::OpKind kind, const graph::AttrBlock& attrs, const std::vector<std::int64_t>& dims);
/// For each place and element of the kernel: where in the image it lies, or -1 in the padding.
std::vector<std::int64_t> window_offsets(const Window& window);

}
