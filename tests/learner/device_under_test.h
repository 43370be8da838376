#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/model/weights.h"

namespace regraft::test {

/// Where the LibTorch path is tried: on the CPU, or as `tests/run.sh --gpu` has it, which sets REGRAFT_DEVICE
/// to cuda. Tests of it are named OnTheDevice; without such a device they fail.
inline std::string device_under_test() {
  const char* name = std::getenv("REGRAFT_DEVICE");
  return name == nullptr ? "cpu" : name;
}

/// Opens it before a test uses LibTorch. What is wrong with it the tests say.
inline const bool kDeviceOpened = [] {
  try {
    return nn::resolve_device(device_under_test()) != "cpu";
  } catch (const nn::NnError&) {
    return false;
  }
}();

/// Updates after which weights are compared.
inline constexpr int kComparedUpdates = 20;

/// Weights after so many updates on the same data: how far they are apart, as a share of the way that they
/// have come. Rounding errors of one update, 1e-6 of its gradient, are carried on by the next: Adam divides
/// by the gradient's own size, so where a gradient is all but 0 they are not small beside it. Seen on a CPU:
/// 1e-6 to 5e-5, and 7e-4 of a reward network, which is fitted to what another model says. Weights that have
/// learnt from the same data in another order are 0.2 to 0.5 apart.
inline constexpr double kWithinRounding = 5e-3;

inline double apart(const nn::Weights& one, const nn::Weights& other, const nn::Weights& start) {
  EXPECT_EQ(one.tensors, other.tensors);
  double difference = 0, way = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    difference += std::pow(static_cast<double>(one.values[i]) - static_cast<double>(other.values[i]), 2);
    way += std::pow(static_cast<double>(one.values[i]) - static_cast<double>(start.values[i]), 2);
  }
  EXPECT_GT(way, 0) << "nothing was learnt";
  return std::sqrt(difference / way);
}

}
