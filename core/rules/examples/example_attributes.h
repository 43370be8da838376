#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/graph/op.h"
#include "core/rules/examples/choices.h"

namespace regraft::rules {

inline graph::Ints some_permutation(std::size_t count, Choices& choices) {
  graph::Ints perm(count);
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(perm[i - 1], perm[choices.below(i)]);
  return perm;
}

/// Axes for Squeeze (dims of one, as a rule all of them), Unsqueeze (one or two) or a reduction (any one).
inline graph::Ints some_axes(graph::OpKind kind, const graph::Ints& dims, Choices& choices) {
  if (kind == graph::OpKind::squeeze) {
    graph::Ints ones;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) ones.push_back(static_cast<std::int64_t>(i));
    }
    if (ones.size() > 1 && choices.drawn(3) == 0)
      ones.erase(ones.begin() + static_cast<std::ptrdiff_t>(choices.drawn(ones.size())));
    return ones;
  }
  const std::size_t bound = dims.size() + (kind == graph::OpKind::unsqueeze ? 1 : 0);
  graph::Ints axes = {bound == 0 ? 0 : static_cast<std::int64_t>(choices.below(bound))};
  if (kind == graph::OpKind::unsqueeze && choices.drawn(4) == 0) {
    const auto second = static_cast<std::int64_t>(choices.drawn(bound + 1));
    if (second != axes[0]) axes.push_back(second);
    std::sort(axes.begin(), axes.end());
  }
  return axes;
}

/// Merges two neighbouring dims, splits one in two, adds a one, moves nothing, or puts the dims in another
/// order.
inline graph::Ints some_reshape(graph::Ints dims, Choices& choices) {
  const auto at = static_cast<std::ptrdiff_t>(dims.empty() ? 0 : choices.below(dims.size()));
  const auto size = static_cast<std::ptrdiff_t>(dims.size());
  switch (choices.below(4)) {
    case 0:
      if (at + 1 >= size) break;
      dims[static_cast<std::size_t>(at)] *= dims[static_cast<std::size_t>(at + 1)];
      dims.erase(dims.begin() + at + 1);
      break;
    case 1:
      if (dims.empty() || dims[static_cast<std::size_t>(at)] % 2 != 0) break;
      dims[static_cast<std::size_t>(at)] /= 2;
      dims.insert(dims.begin() + at + static_cast<std::ptrdiff_t>(choices.below(2)), 2);
      break;
    case 2:
      dims.insert(dims.begin() + at, 1);
      break;
    default:
      if (choices.drawn(2) > 0) break;
      for (std::size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[choices.drawn(i)]);
      break;
  }
  return dims;
}

}
