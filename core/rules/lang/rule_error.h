#pragma once

#include "core/base/error.h"

namespace regraft::rules {

/// What is wrong with a text of rules, or with a rule that is applied: "file:line:column: what; remedy".
class RuleError : public Error {
 public:
  using Error::Error;
};

}
