#pragma once

#include "core/base/error.h"

namespace regraft::rulegen {

/// What is wrong with the options of the generator, its stored work, or a file of TASO's rules.
class RulegenError : public Error {
 public:
  using Error::Error;
};

}
