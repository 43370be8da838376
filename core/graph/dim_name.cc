#include "core/graph/dim_name.h"

#include <algorithm>
#include <array>

namespace regraft::graph {

bool is_dim_name(std::string_view text) {
  constexpr std::array<std::string_view, 4> kUnknown{"", "?", "None", "-1"};
  return std::ranges::find(kUnknown, text) == kUnknown.end();
}

}
