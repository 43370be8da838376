#pragma once

#include <filesystem>

#include "learner/job/run_folder.h"

namespace regraft::learner {

/// Where the phases `collect` and `world-model` keep their results, within a run folder.
struct WorldFolder {
  std::filesystem::path root;

  explicit WorldFolder(const RunFolder& run) : root(run.root / "world") {}
  std::filesystem::path model() const { return root / "model.world"; }
  std::filesystem::path rollouts() const { return root / "collected.rollouts"; }
  std::filesystem::path spill() const { return root / "replay.spill"; }
};

}
