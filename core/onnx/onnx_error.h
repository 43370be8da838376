#pragma once

#include "core/base/error.h"

namespace regraft::onnx {

/// A model file that cannot be read or written, or that contradicts itself.
class OnnxError : public Error {
 public:
  using Error::Error;
};

}
