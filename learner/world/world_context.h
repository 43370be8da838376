#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/nn/model/world_model.h"

namespace regraft::learner {

/// What a world model is bound to: of a job, from its config.
struct WorldContext {
  std::string rule_set_hash;
  std::vector<std::string> op_kinds;
  std::vector<std::string> model_names;
  std::uint32_t horizon = 0, location_limit = 0;
  env::ActionMode action_mode = env::ActionMode::one_site;
  std::string reward_kind = "incremental";
  std::vector<std::string> bind = {};  // sizes of symbolic dims, ascending: "batch=8"
};

/// Throws NnError that names every difference between what a world model was fitted to and the job that wants
/// to learn in it. These are rules, models and their order, horizon, location limit and what location 0 is,
/// reward, sizes of symbolic dims. Dreams would mean another thing than the real episodes beside them.
void require_same(const nn::WorldModel& world, const WorldContext& job, const std::string& where);

}
