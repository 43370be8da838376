#pragma once

// Internal to learner: shows LibTorch types.

#include <cstring>

#include "core/nn/training/flat_parameters.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::learner {

/// The values of parameters for checkpoints, to the bit.
inline void write_values(const nn::training::FlatParameters& parameters, replay::ByteWriter& out) {
  const nn::Weights weights = parameters.store();
  out.raw(std::as_bytes(std::span(weights.values)));
}

/// Throws replay::ReplayError where there are too few bytes.
inline void read_values(nn::training::FlatParameters& parameters, replay::ByteReader& in) {
  nn::Weights weights = parameters.store();
  const auto raw = in.raw(weights.values.size() * sizeof(float));
  std::memcpy(weights.values.data(), raw.data(), raw.size());
  parameters.load(weights);
}

}
