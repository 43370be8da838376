#include "launch/policy/costed_in_training.h"

#include <nlohmann/json.hpp>

#include "core/nn/model/controller_file.h"

namespace regraft::launch {

std::optional<std::uint64_t> costed_in_training(const nn::PolicyFile& policy) {
  const auto record = nlohmann::json::parse(policy.training_record);
  if (record.contains("candidates")) return record.at("candidates").get<std::uint64_t>();
  if (policy.network.action_mode == env::ActionMode::all_sites || !record.contains("steps"))
    return std::nullopt;
  return record.at("steps").get<std::uint64_t>();  // of older policies, one rewrite a step
}

std::optional<std::uint64_t> costed_in_training(const nn::WorldBundle& bundle) {
  const auto world = nlohmann::json::parse(bundle.world.training_record);
  if (!world.contains("candidates")) return std::nullopt;
  const auto controller =
      nlohmann::json::parse(nn::decode_controller(bundle.controller, "bundle").training_record);
  const auto real_steps = controller.value("real_steps", std::uint64_t{0});
  if (bundle.world.action_mode == env::ActionMode::all_sites && real_steps > 0) return std::nullopt;
  const auto checks = controller.value("checks", nlohmann::json::object());
  return world.at("candidates").get<std::uint64_t>() + real_steps +
         checks.value("candidates", std::uint64_t{0});
}

}
