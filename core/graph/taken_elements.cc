#include "core/graph/taken_elements.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/graph/constants.h"

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

WeightId known_slice(Tables& tables, std::span<const Operand> operands) {
  constexpr std::size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4, kMostElements = 4096;
  std::vector<std::vector<std::int64_t>> given;
  for (const Operand& operand : operands) {
    if (operand.value == WeightId::none) return WeightId::none;
    const auto values = integer_values(tables, operand.value, kMostElements);
    if (!values || (!given.empty() && values->size() != 1)) return WeightId::none;
    given.emplace_back(values->begin(), values->end());
  }
  if (given.size() != kSteps + 1 || given[kSteps][0] == 0) return WeightId::none;
  TensorType type = tables.type(operands[0].type);
  const auto rank = static_cast<std::int64_t>(type.rank());
  const std::int64_t axis = given[kAxes][0] + (given[kAxes][0] < 0 ? rank : 0);
  if (type.dtype != DType::int64 || !type.is_static() || axis < 0 || axis >= rank) return WeightId::none;
  const auto at = type.dims.begin() + axis;
  const std::int64_t length = *at,
                     inner = std::accumulate(at + 1, type.dims.end(), std::int64_t{1}, std::multiplies<>());
  const std::vector<std::int64_t> places =
      slice_places(length, given[kStarts][0], given[kEnds][0], given[kSteps][0]);
  std::vector<std::int64_t> taken;
  for (auto block = given[0].begin(); block != given[0].end(); block += length * inner)
    for (const std::int64_t place : places)
      taken.insert(taken.end(), block + place * inner, block + (place + 1) * inner);
  *at = static_cast<Dim>(places.size());
  return tables.weights().literal(tables.intern(type), std::as_bytes(std::span(taken)));
}

}
