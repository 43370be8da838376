#include "core/rulegen/enumerate/window.h"

namespace regraft::rulegen {

using Ints = std::vector<std::int64_t>;
using A = graph::Attr;

std::int64_t element_count(const Ints& dims) {
  std::int64_t count = 1;
  for (std::int64_t d : dims) count *= d;
  return count;
}

Ints aligned_strides(const Ints& dims, const Ints& out) {
  Ints strides(out.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t dim = dims[dims.size() - 1 - i];
    if (dim != 1) strides[out.size() - 1 - i] = stride;
    stride *= dim;
  }
  return strides;
}

std::size_t dot(const Ints& strides, const Ints& at) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < at.size(); ++i) sum += strides[i] * at[i];
  return static_cast<std::size_t>(sum);
}

Window window_of(graph::OpKind kind, const graph::AttrBlock& attrs, const Ints& dims) {
  Window w;
  w.image.assign(dims.begin() + 2, dims.end());
  w.kernel = attrs.ints(A::kernel_shape);
  w.strides = attrs.ints(A::strides);
  w.pads = attrs.ints(A::pads);
  w.dilations = attrs.has(A::dilations) ? attrs.ints(A::dilations) : Ints(w.kernel.size(), 1);
  const std::size_t n = w.kernel.size();
  const bool up = kind != graph::OpKind::conv && attrs.integer(A::ceil_mode) != 0;
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t room = w.image[d] + w.pads[d] + w.pads[d + n] - w.dilations[d] * (w.kernel[d] - 1) - 1;
    std::int64_t count = (room + (up ? w.strides[d] - 1 : 0)) / w.strides[d] + 1;
    // A window that begins in the padding behind the image is left out.
    if (up && (count - 1) * w.strides[d] >= w.image[d] + w.pads[d]) --count;
    w.out.push_back(count);
  }
  for_each_index(w.out, [&](const Ints& at, std::size_t) {
    std::int64_t framed = 1;
    for (std::size_t d = 0; d < n; ++d) {
      std::int64_t inside = 0;
      for (std::int64_t k = 0; k < w.kernel[d]; ++k)
        inside += at[d] * w.strides[d] + k * w.dilations[d] < w.image[d] + w.pads[d] + w.pads[d + n] ? 1 : 0;
      framed *= inside;
    }
    w.framed.push_back(framed);
  });
  return w;
}

Ints window_offsets(const Window& w) {
  Ints offsets;
  offsets.reserve(static_cast<std::size_t>(element_count(w.out) * element_count(w.kernel)));
  for_each_index(w.out, [&](const Ints& at, std::size_t) {
    for_each_index(w.kernel, [&](const Ints& k, std::size_t) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < w.kernel.size() && offset >= 0; ++d) {
        const std::int64_t i = at[d] * w.strides[d] - w.pads[d] + k[d] * w.dilations[d];
        offset = i < 0 || i >= w.image[d] ? -1 : offset * w.image[d] + i;
      }
      offsets.push_back(offset);
    });
  });
  return offsets;
}

}
