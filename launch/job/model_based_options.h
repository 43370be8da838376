#pragma once

#include <vector>

#include "core/base/config.h"

namespace regraft::launch {

/// The options `model_based.*`, each declared once, here.
std::vector<Option> model_based_options();

}  // namespace regraft::launch
