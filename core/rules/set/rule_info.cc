#include "core/rules/set/rule_info.h"

#include <algorithm>

#include "core/graph/op.h"

namespace regraft::rules {

bool RuleInfo::has(RuleMark mark) const {
  return std::ranges::find(marks, mark) != marks.end();
}

RuleChoice RuleChoice::all() {
  const auto domains = graph::runtime_domains();
  return {RuleStatus::tested, {domains.begin(), domains.end()}};
}

}
