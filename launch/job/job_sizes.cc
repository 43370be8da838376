#include "launch/job/job_sizes.h"

#include <algorithm>
#include <filesystem>

#include "core/task/workload.h"
#include "launch/call/find_sizes.h"
#include "launch/job/job_config.h"

namespace regraft::launch {
namespace {

/// As TOML: a setting's list would end at a comma in a name.
void set_sizes(Config& config, const task::NamedSizes& sizes) {
  config.merge_toml("workload.bind = " + to_toml(ConfigValue(task::binding_texts(sizes))), "sizes");
}

}  // namespace

void bind_sizes(Config& config) {
  set_sizes(config, find_sizes(task::workload_options_from(config)));
}

void bind_sizes_of(const learner::RunFolder& run, Config& config) {
  if (!std::filesystem::exists(run.config())) return;
  const task::NamedSizes its = task::workload_options_from(load_run_config(run)).bind,
                         bound = task::workload_options_from(config).bind;
  if (std::ranges::includes(its, bound)) set_sizes(config, its);
}

}
