#pragma once

#include "core/base/error.h"

namespace regraft::launch {

/// A job that cannot be started or gone on with as it was asked for.
class LaunchError : public Error {
 public:
  using Error::Error;
};

}
