#pragma once

#include "core/base/error.h"

namespace regraft::cost {

/// A device profile that cannot be used, or a cost that was asked for a node that is not there.
class CostError : public Error {
 public:
  using Error::Error;
};

}
