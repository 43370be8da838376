#pragma once

#include <gmock/gmock.h>

#include <string>

#include "core/rules/set/rule_set.h"

namespace regraft::rules::testing {

/// A rule that is refused where it is read.
struct BadRule {
  const char* text;
  const char* position;  // line:column
  const char* says;
};

inline void expect_refused(const BadRule& bad) {
  using ::testing::HasSubstr;
  try {
    RuleSet::parse(bad.text + std::string("\n"), "bad.rules");
    FAIL() << "accepted: " << bad.text;
  } catch (const RuleError& e) {
    EXPECT_THAT(e.what(), HasSubstr("bad.rules:" + std::string(bad.position) + ": ")) << bad.text;
    EXPECT_THAT(e.what(), HasSubstr(bad.says)) << bad.text;
    EXPECT_FALSE(e.remedy().empty()) << e.what();
  }
}

}
