#pragma once

#include "core/base/error.h"

namespace regraft::env {

/// An environment that is asked for what it cannot give: a step after the end, options out of range.
class EnvError : public Error {
 public:
  using Error::Error;
};

}
