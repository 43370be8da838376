#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/enum_names.h"

namespace regraft::env {

/// What a location of a rule stands for: a log of actions is replayed in the mode that it was made in.
enum class ActionMode : std::uint8_t {
  one_site,   // for one match
  all_sites,  // the first of two or more for the rule at all of its sites (all_sites.h), the others for one
};
constexpr std::array<std::string_view, 2> enum_names(ActionMode) {
  return {"one_site", "all_sites"};
}

/// The field of policies, world models and rollouts that says `all_sites`.
inline constexpr char kAllSitesField[] = "everywhere";

}
