#include "launch/job/config_warnings.h"

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/task/workload.h"
#include "launch/job/phases.h"

namespace regraft::launch {

ConfigWarnings config_warnings(const Config& config) {
  ConfigWarnings notes;
  const env::EnvOptions environment = task::workload_options_from(config).environment;
  if (environment.reward == env::RewardKind::detailed && environment.reward_settings.weights.latency_alone())
    notes.warnings.emplace_back(
        "workload.reward: detailed with these weights pays what incremental does: raise "
        "workload.reward_weight_flops, "
        "workload.reward_weight_memory or workload.reward_weight_launches");
  if (const TextList& sizes = config.list("workload.bind"); !sizes.empty())
    notes.remarks.emplace_back("workload.bind: costs are predicted at " + join(sizes, ", "));
  const JobPhase& phase = job_phase(config);
  const std::string name(phase.name);
  const bool imitates = config.number("ppo.imitation") > 0, part = config.number("train.trained_share") < 1;
  if (!phase.imitates && (imitates || part))
    notes.warnings.emplace_back("ppo.imitation, train.trained_share: the phase " + name +
                                " heeds neither; remove them");
  if (phase.imitates && part && !imitates)
    notes.warnings.emplace_back(
        "train.trained_share: without ppo.imitation the other episodes are played for nothing; set one of "
        "them");
  if (phase.imitates && imitates && environment.reward == env::RewardKind::measured)
    notes.warnings.emplace_back(
        "ppo.imitation: the best of measured rewards are the luckiest measurements, and are imitated");
  if (const double ms = config.number("actors.simulated_step_ms"); ms > 0)
    notes.warnings.emplace_back(
        "actors.simulated_step_ms: " +
        (phase.actor_kind == "policy"
             ? fmt::format("steps are made to take {} ms by waiting; rates are those of a simulation", ms)
             : "the phase " + name + " does not heed it; remove it"));
  if (phase.computes && config.flag("train.deterministic") && config.text("train.device") == "auto")
    notes.remarks.emplace_back("train.device: auto is cpu in deterministic mode");
  if (phase.computes && config.text("dream.controller") == "linear" && config.text("train.device") == "cuda")
    notes.remarks.emplace_back("train.device: a linear controller evolves on the CPU");
  return notes;
}

void log_config_warnings(const Config& config) {
  const ConfigWarnings notes = config_warnings(config);
  for (const std::string& warning : notes.warnings) log_warning("{}", warning);
  for (const std::string& remark : notes.remarks) log_info("{}", remark);
}

}
