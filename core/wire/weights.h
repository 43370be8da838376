#pragma once

#include <cstddef>
#include <vector>

#include "core/wire/message.h"

namespace regraft::wire {

/// A version of the weights, whole.
struct Weights {
  WeightsInfo info;
  std::vector<std::byte> bytes;
};

}
