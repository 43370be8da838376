#pragma once

#include "core/base/error.h"

namespace regraft::launch {

/// A rewritten model that is not equivalent to its input: exit code 3, nothing is emitted.
class NotEquivalentError : public Error {
 public:
  using Error::Error;
};

}
