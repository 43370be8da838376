#pragma once

#include "core/base/error.h"

namespace regraft::learner {

/// A job cannot go on, and starting it again would not help: what it was given does not fit it.
class LearnerError : public Error {
 public:
  using Error::Error;
};

}
