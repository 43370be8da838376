#pragma once

#include "core/base/error.h"

namespace regraft::graph {

class GraphError : public Error {
 public:
  using Error::Error;
};

}
