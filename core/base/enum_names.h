#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace regraft {

/// An enum whose values, from 0 on, have names, which configs, files and messages use. Beside it stands
///   constexpr std::array<std::string_view, 2> enum_names(Head) { return {"pointer", "hierarchical"}; }
template <typename E>
concept NamedEnum = requires(E value) {
  enum_names(value).size();
};

template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  return enum_names(value)[static_cast<std::size_t>(value)];
}

/// Nothing where no value has the name.
template <NamedEnum E>
constexpr std::optional<E> enum_value(std::string_view name) {
  for (std::size_t i = 0; i < enum_names(E{}).size(); ++i)
    if (enum_names(E{})[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

/// Throws UsageError naming those that exist; `where` is the option or field.
template <NamedEnum E>
E enum_from(std::string_view name, const std::string& where) {
  if (const auto value = enum_value<E>(name)) return *value;
  const auto names = enum_names(E{});
  throw UsageError("there is no '" + std::string(name) + "'", where,
                   suggestion(name, std::vector<std::string>(names.begin(), names.end())));
}

}
