#include "launch/policy/controller_bundle.h"

#include "core/graph/op_kind_names.h"
#include "core/nn/model/nn_error.h"

namespace regraft::launch {

bool is_bundle(const std::filesystem::path& path) {
  return path.extension() == ".world";
}

nn::WorldBundle load_controller_bundle(const std::filesystem::path& path, const rules::RuleSet& rules) {
  nn::WorldBundle bundle = nn::load_bundle(path);
  if (bundle.controller.empty())
    throw nn::NnError("holds no controller", path.string(), "train one: --set train.phase=dream");
  nn::require_fit(bundle.world, rules.hash().hex(), graph::op_kind_names());
  return bundle;
}

env::EpisodeLimits limits_of(const nn::WorldModel& world) {
  env::EpisodeLimits limits;
  if (world.horizon > 0) limits.horizon = world.horizon;
  if (world.location_limit > 0) limits.location_limit = world.location_limit;
  return limits;
}

}
