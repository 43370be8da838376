#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/bound_options.h"
#include "core/nn/inference/dream.h"
#include "core/nn/model/controller_config.h"

namespace regraft::learner {

/// The phase `dream`: a controller learns in a world model.
struct DreamPhaseOptions {
  std::filesystem::path world;  // the file of the world model; a controller in it is gone on with
  std::uint32_t replicas = 64;  // dreams of a ticket
  std::uint32_t horizon = 0;    // of a dream; 0: the world model's
  env::HorizonMode horizon_mode = env::HorizonMode::terminate;  // the real environments' too
  double tau = 1;
  bool scale_sigma = false;
  double legality_threshold = 0.5;                       // with which what a dream offers must be legal
  double invalid_penalty = env::kDefaultInvalidPenalty;  // the real environments' too
  nn::ControllerKind controller = nn::ControllerKind::hierarchical;
  std::uint32_t width = 64;      // of the hierarchical controller's hidden layers
  double sigma = 0.3;            // linear: first step size of evolution
  std::uint32_t population = 0;  // linear: candidates of a generation; 0: by the number of parameters
};

/// The phase `dyna`: dreams branch off real episodes, as far as they can be believed.
struct DynaOptions {
  std::uint64_t updates = 4;        // between gatherings of real episodes
  std::uint64_t episodes = 8;       // real ones of a gathering, at least
  std::uint32_t branch_steps = 16;  // of a dream, at most
  std::uint32_t window = 64;        // branches of a model that are judged, the newest; dreams begin there
  double bias = 0.02;               // of predicted minus real return of a branch, at most, either way
  double mask_f1 = 0.8;             // of dreamt masks, at least
};

/// Kinds of actors of these phases, as they introduce themselves.
inline constexpr char kDreamKind[] = "dream";
inline constexpr char kControllerKind[] = "controller";  // in real environments

/// The options `dream.*` and `dyna.*`.
std::vector<Option> dream_options();
/// From a job's config. What dreams share with real environments is read from `workload.*`.
DreamPhaseOptions dream_options_from(const Config& config);
DynaOptions dyna_options_from(const Config& config);
/// What an actor dreams with.
nn::DreamOptions dream_of(const DreamPhaseOptions& options);

}
