#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraft::rules {

/// What a rule that holds over the reals asks of a model's floating-point numbers, beyond rounding. It stands
/// between a rule's name and its ':', as in `mul-assoc (finite): ...`. It does not change what the rule
/// matches and makes. So it is no part of the text that statuses, logs and rule sets hash.
///
/// finite: both sides agree only where all that either computes is finite; an Inf or a NaN may go elsewhere.
/// bounded_terms: both sides agree up to rounding only where what is moved or dropped is of the magnitude of
/// what it is added to.
/// nonempty: the right side runs only where no dim is 0.
enum class RuleMark : std::uint8_t { finite, bounded_terms, nonempty };

inline constexpr std::array<RuleMark, 3> kRuleMarks = {RuleMark::finite, RuleMark::bounded_terms,
                                                       RuleMark::nonempty};

/// "finite", "bounded-terms" or "nonempty".
std::string_view mark_name(RuleMark mark);
std::optional<RuleMark> mark_from_name(std::string_view name);
/// In a sentence.
std::string_view mark_meaning(RuleMark mark);
/// " (finite, bounded-terms)"; empty without marks.
std::string marks_text(const std::vector<RuleMark>& marks);

}
