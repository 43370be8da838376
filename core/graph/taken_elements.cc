#include "core/graph/taken_elements.h"

#include <algorithm>

namespace regraft::graph {

std::vector<std::int64_t> slice_places(std::int64_t size, std::int64_t start, std::int64_t end,
                                       std::int64_t step) {
  std::vector<std::int64_t> places;
  if (size == 0) return places;
  const std::int64_t back = step < 0 ? 1 : 0, stride = std::clamp(step, -size, size);  // beyond is no more
  const auto place = [&](std::int64_t at, std::int64_t least) {
    return std::clamp(at < 0 ? at + size : at, least, size - back);
  };
  const std::int64_t last = place(end, -back);
  for (std::int64_t at = place(start, 0); back ? at > last : at < last; at += stride) places.push_back(at);
  return places;
}

std::vector<Element> taken_elements(OpKind kind, const AttrBlock& attrs, std::span<const Element> from,
                                    std::span<const Element> indices) {
  const auto size = static_cast<std::int64_t>(from.size());
  std::vector<Element> taken;
  if (kind == OpKind::gather) {
    for (const Element& index : indices) {
      const std::int64_t at = index.value + (index.value < 0 ? size : 0);
      const bool known = index.is_number() && 0 <= at && at < size;
      taken.push_back(known ? from[static_cast<std::size_t>(at)] : Element{});
    }
  } else if (kind == OpKind::slice && attrs.has(Attr::starts) && attrs.has(Attr::ends) &&
             attrs.ints(Attr::starts).size() == 1) {
    const std::int64_t step = attrs.has(Attr::steps) ? attrs.ints(Attr::steps)[0] : 1;
    for (const auto at : slice_places(size, attrs.ints(Attr::starts)[0], attrs.ints(Attr::ends)[0], step))
      taken.push_back(from[static_cast<std::size_t>(at)]);
  }
  return taken;
}

}
