#include "launch/job/job_setup.h"

namespace regraft::launch {

learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config) {
  return {
      .folder = folder, .options = learner::learner_options_from(config), .config_toml = config.to_toml()};
}

}
