#include "core/rules/lang/rule_marks.h"

#include <algorithm>

namespace regraft::rules {

std::string_view mark_name(RuleMark mark) {
  return mark == RuleMark::finite ? "finite" : "bounded-terms";
}

std::optional<RuleMark> mark_from_name(std::string_view name) {
  const auto found = std::ranges::find(kRuleMarks, name, mark_name);
  return found == kRuleMarks.end() ? std::nullopt : std::optional(*found);
}

std::string marks_text(const std::vector<RuleMark>& marks) {
  std::string text;
  for (const RuleMark mark : marks) text += (text.empty() ? " (" : ", ") + std::string(mark_name(mark));
  return text.empty() ? text : text + ")";
}

}
