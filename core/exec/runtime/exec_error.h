#pragma once

#include "core/base/error.h"

namespace regraft::exec {

/// A model that cannot be loaded or run, inputs that do not fit it, a measuring process that died.
class ExecError : public Error {
 public:
  using Error::Error;
};

}
