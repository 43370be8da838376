#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/clock.h"
#include "core/nn/model/world_model.h"

namespace regraft::launch {

/// How fast a controller dreams, all heads included, in one thread.
struct DreamSpeed {
  std::string world;  // the file, or what stands for one
  std::uint32_t replicas = 0, rules = 0, latent = 0, hidden = 0, mixtures = 0;
  std::uint64_t steps = 0, episodes = 0, seed = 0;
  double us_per_step = 0;             // CPU time a step of a replica: choice, step and resets
  double wall_us_per_step = 0;        // the same by the clock
  double controller_us_per_step = 0;  // choice of rule and location, both values
  double world_us_per_step = 0;       // LSTM, mixture, draw, reward, terminal, mask, counts
  double reset_us_per_step = 0;
};

/// A world model of the default size with weights that mean nothing and masks of which about a tenth is
/// legal.
nn::WorldModel stand_in_world(std::uint32_t rules, std::uint64_t seed);

/// Dreams with a fresh controller until `steps` steps are done; replicas that end begin anew.
DreamSpeed measure_dream(const nn::WorldModel& world, std::uint32_t replicas, std::uint64_t steps,
                         std::uint64_t seed, const Clock& clock);

/// One line a figure.
std::string describe(const DreamSpeed& speed);
nlohmann::json to_json(const DreamSpeed& speed);

}
