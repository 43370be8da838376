#include "learner/world/world_context.h"

#include <nlohmann/json.hpp>

#include "core/nn/model/nn_error.h"

namespace regraft::learner {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Worlds of before there were bindings have none.
std::vector<std::string> bound_in(const std::string& training_record) {
  const auto record = nlohmann::json::parse(training_record);
  return record.value("bind", std::vector<std::string>{});
}

}  // namespace

void require_same(const nn::WorldModel& world, const WorldContext& job, const std::string& where) {
  if (world.rule_set_hash != job.rule_set_hash)
    throw nn::NnError("was fitted to other rules than the job's", where, "use the rules it was made with");
  std::string differences;
  const auto compare = [&](const char* key, const std::string& fitted, const std::string& wanted) {
    if (fitted != wanted)
      differences += std::string(differences.empty() ? "" : "; ") + key + ": fitted to " + fitted +
                     ", the job has " + wanted;
  };
  compare("workload.models", joined(world.model_names), joined(job.model_names));
  compare("workload.horizon", std::to_string(world.horizon), std::to_string(job.horizon));
  compare("workload.locations", std::to_string(world.location_limit), std::to_string(job.location_limit));
  compare("workload.action_mode", std::string(enum_name(world.action_mode)),
          std::string(enum_name(job.action_mode)));
  compare("workload.reward", world.reward_kind, job.reward_kind);
  compare("workload.bind", joined(bound_in(world.training_record)), joined(job.bind));
  if (!differences.empty())
    throw nn::NnError("belongs to another job: " + differences, where,
                      "give the settings it was made with, or make another one");
}

}
