#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace regraft::replay {

/// The segments of each episode, in order, where goes_on() says which belong together: episodes are cut for
/// the wire, and advantages are of whole ones. The segments must outlive the spans.
template <typename Segment>
std::vector<std::span<const Segment>> episodes_of(std::span<const Segment> segments) {
  std::vector<std::span<const Segment>> episodes;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= segments.size(); ++i) {
    if (i < segments.size() && goes_on(segments[i - 1], segments[i])) continue;
    episodes.push_back(segments.subspan(first, i - first));
    first = i;
  }
  return episodes;
}

}
