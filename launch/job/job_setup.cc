#include "launch/job/job_setup.h"

#include <filesystem>
#include <map>

namespace regraft::launch {

std::vector<std::string> model_names(const std::vector<std::string>& models) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const std::string& model : models) {
    std::string name = model.starts_with("synthetic:") ? model : std::filesystem::path(model).stem().string();
    if (const int count = seen[name]++; count > 0) name += "-" + std::to_string(count + 1);
    names.push_back(std::move(name));
  }
  return names;
}

learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config) {
  return {
      .folder = folder, .options = learner::learner_options_from(config), .config_toml = config.to_toml()};
}

}  // namespace regraft::launch
