#pragma once

#include "core/base/error.h"

namespace regraft::nn {

/// A network, policy or weight buffer that cannot be used: wrong shape, another schema, a damaged file, no
/// such device.
class NnError : public Error {
 public:
  using Error::Error;
};

}
