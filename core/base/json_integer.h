#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace regraft {

/// A JSON value as an integer of this type. The library's own get<T>() takes true for 1, 2.5 for 2, and of a
/// number out of range whatever is left of it. Throws nlohmann::json::type_error for what is no such integer.
template <std::integral T>
T json_integer(const nlohmann::json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits) throw nlohmann::json::type_error::create(302, "no integer that fits: " + value.dump(), &value);
  return value.get<T>();
}

/// A JSON list of them. Throws nlohmann::json::type_error as well where it is no list.
template <std::integral T>
std::vector<T> json_integers(const nlohmann::json& list) {
  if (!list.is_array()) throw nlohmann::json::type_error::create(302, "no list of integers", &list);
  std::vector<T> integers;
  for (const nlohmann::json& value : list) integers.push_back(json_integer<T>(value));
  return integers;
}

}
