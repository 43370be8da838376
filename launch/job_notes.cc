#include "launch/job_notes.h"

#include "actors/workload.h"
#include "core/base/log.h"

namespace regraft::launch {

JobNotes notes_on(const Config& config) {
  JobNotes notes;
  const env::EnvOptions environment = actors::workload_options_from(config).environment;
  if (environment.reward == env::RewardKind::detailed && environment.reward_settings.weights.latency_alone())
    notes.warnings.emplace_back(
        "workload.reward: detailed with these weights pays what incremental does: raise "
        "workload.weight_flops, "
        "workload.weight_memory or workload.weight_launches");
  const std::string phase = config.text("train.phase");
  if (phase != "ppo" && config.number("ppo.imitation") > 0)
    notes.warnings.emplace_back("ppo.imitation: the phase " + phase + " imitates nothing; remove it");
  if (phase == "ppo" && config.flag("train.deterministic") && config.text("train.device") == "auto")
    notes.remarks.emplace_back("train.device: auto is cpu in deterministic mode");
  if (phase != "ppo" && phase != "collect" && config.text("train.device") == "auto")
    notes.remarks.emplace_back("train.device: the phase " + phase + " computes on the CPU alone");
  return notes;
}

void log_notes(const Config& config) {
  const JobNotes notes = notes_on(config);
  for (const std::string& warning : notes.warnings) log_warning("{}", warning);
  for (const std::string& remark : notes.remarks) log_info("{}", remark);
}

}  // namespace regraft::launch
