#pragma once

#include <cstdint>
#include <string_view>

namespace regraft::env {

/// `rule` is the number of a rule; the rule count stands for NO-OP, at location 0. What a location stands for
/// depends on the ActionMode.
struct Action {
  std::uint32_t rule = 0;
  std::uint32_t location = 0;
};

/// Why an action changed nothing.
enum class Invalid : std::uint8_t {
  none,
  no_such_rule,      // rule > rule count
  no_such_location,  // at or beyond the rule's location count; a rule that is not legal has none
  refused,           // the rewriter refused a match of the index: a bug in the rule, reported and survived
                     // (of all sites: every one, or what was done only led back)
};
std::string_view describe(Invalid invalid);

/// What an action that is not legal costs, unless it is said otherwise.
inline constexpr double kDefaultInvalidPenalty = 0.05;

}
