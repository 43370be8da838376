#pragma once

#include "core/base/error.h"

namespace regraft::replay {

/// A segment that cannot be encoded or whose bytes contradict themselves.
class ReplayError : public Error {
 public:
  using Error::Error;
};

}
