#include "core/rules/lang/rule_marks.h"

#include <algorithm>
#include <cstddef>

namespace regraft::rules {

namespace {

struct Row {
  std::string_view name, meaning;
};

constexpr std::array<Row, kRuleMarks.size()> kRows = {{
    {"finite", "both sides agree where all that they compute is finite"},
    {"bounded-terms",
     "both sides agree where what is moved or dropped is no larger than what it is added to"},
    {"nonempty", "the right side runs where no dim is 0"},
}};

}  // namespace

std::string_view mark_name(RuleMark mark) {
  return kRows[static_cast<std::size_t>(mark)].name;
}

std::string_view mark_meaning(RuleMark mark) {
  return kRows[static_cast<std::size_t>(mark)].meaning;
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
