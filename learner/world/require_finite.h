#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "core/nn/model/nn_error.h"

namespace regraft::learner {

/// Throws NnError, before parameters are stepped, where the gradient's norm is not finite. `part`: what is
/// fitted; `rate`: the option of its learning rate.
inline void require_finite(double norm, const std::string& part, std::uint64_t update,
                           const std::string& rate) {
  if (!std::isfinite(norm))
    throw nn::NnError("the gradient is not finite",
                      "fit of the " + part + ", update " + std::to_string(update), "lower " + rate);
}

}
