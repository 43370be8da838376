#include "actors/python/packed_observation.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace regraft::actors {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kMostFields = 16;

template <typename T>
constexpr char type_of() {
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_same_v<T, std::int32_t>) return 'i';
  if constexpr (std::is_same_v<T, std::uint32_t>) return 'I';
  if constexpr (std::is_same_v<T, std::uint16_t>) return 'H';
  if constexpr (std::is_same_v<T, std::int8_t>) return 'b';
}

template <typename... Vectors>
std::size_t bytes_of(const Vectors&... vectors) {
  return (std::as_bytes(std::span(vectors)).size() + ...);
}

std::size_t most_bytes(const env::Observation& o) {
  return bytes_of(o.node_ids, o.node_kinds, o.node_features, o.senders, o.receivers, o.edge_features,
                  o.globals, o.candidate_rules, o.candidate_locations, o.candidate_offsets, o.candidate_nodes,
                  o.location_counts) +
         o.location_counts.size() + kMostFields * kAlignment;  // the mask, and the gaps
}

}  // namespace

template <typename T>
T* PackedObservation::place(const char* name, std::size_t rows, std::size_t columns) {
  size_ = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  fields_.push_back({name, type_of<T>(), size_, rows, columns});
  T* const first = reinterpret_cast<T*>(memory_.get() + size_);
  size_ += rows * std::max<std::size_t>(columns, 1) * sizeof(T);
  return first;
}

template <typename T>
void PackedObservation::add(const char* name, std::span<const T> values, std::size_t columns) {
  std::copy(values.begin(), values.end(),
            place<T>(name, values.size() / std::max<std::size_t>(columns, 1), columns));
}

PackedObservation::PackedObservation(const env::Observation& seen)
    : memory_(std::make_unique_for_overwrite<std::byte[]>(most_bytes(seen))) {
  fields_.reserve(kMostFields);
  add<float>("nodes", seen.node_features, env::kNodeFeatures);
  add<float>("edges", seen.edge_features, env::kEdgeFeatures);
  std::int32_t* link = place<std::int32_t>("edge_links", seen.edge_count(), 2);
  for (std::size_t edge = 0; edge < seen.edge_count(); ++edge) {
    *link++ = seen.senders[edge];
    *link++ = seen.receivers[edge];
  }
  add<std::uint16_t>("kinds", seen.node_kinds);
  add<std::uint32_t>("node_ids", seen.node_ids);
  add<float>("globals", seen.globals);
  add<std::uint16_t>("rules", seen.candidate_rules);
  add<std::uint16_t>("locations", seen.candidate_locations);
  add<std::uint32_t>("offsets", seen.candidate_offsets);
  add<std::int32_t>("matched", seen.candidate_nodes);
  add<std::uint16_t>("location_counts", seen.location_counts);
  std::int8_t* const mask = place<std::int8_t>("rule_mask", seen.location_counts.size());
  std::transform(seen.location_counts.begin(), seen.location_counts.end(), mask,
                 [](std::uint16_t count) -> std::int8_t { return count > 0; });
}

}
