#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/enum_names.h"

namespace regraft::env {

/// What the last step of an episode that reaches the horizon is: `terminate` pays it and bootstraps nothing
/// (the step fraction is observed); `truncate` lets the learner bootstrap.
enum class HorizonMode : std::uint8_t { terminate, truncate };
constexpr std::array<std::string_view, 2> enum_names(HorizonMode) {
  return {"terminate", "truncate"};
}

}
