#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/config.h"
#include "core/nn/dream.h"

namespace regraft::learner {

/// The phase `dream`: a controller learns in a world model.
struct DreamPhaseOptions {
  std::filesystem::path world;  // the file of the world model; a controller in it is gone on with
  std::uint32_t replicas = 64;  // dreams of a ticket
  std::uint32_t horizon = 0;    // of a dream; 0: the world model's
  double tau = 1;
  bool scale_sigma = false;
  std::uint32_t width = 64;  // of the controller's hidden layers
};

/// The options `dream.*`, each declared once, here.
std::vector<Option> dream_options();
DreamPhaseOptions dream_options_from(const Config& config);
/// What an actor dreams with.
nn::DreamOptions dream_of(const DreamPhaseOptions& options);

}  // namespace regraft::learner
