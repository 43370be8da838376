#pragma once

#include <filesystem>
#include <string>

namespace regraft::learner {

/// Where a run keeps its things. The folder is all that a resume needs, and all that an actor on a shared
/// file system needs.
struct RunFolder {
  std::filesystem::path root;

  std::filesystem::path config() const { return root / "config.toml"; }
  std::filesystem::path run_id() const { return root / "run_id"; }
  std::filesystem::path run_file() const { return root / "run.json"; }  // how to reach the learner
  std::filesystem::path journal() const { return root / "journal"; }
  std::filesystem::path learners_file() const { return root / "learners.json"; }  // the same for its peers
  std::filesystem::path relays() const { return root / "relays"; }
  std::filesystem::path relay_file(const std::string& name) const { return relays() / (name + ".json"); }
  std::filesystem::path server_key() const { return root / "server.key"; }
  std::filesystem::path authorised() const { return root / "authorised"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path policies() const { return root / "policies"; }
  std::filesystem::path events() const { return root / "events"; }
  std::filesystem::path log() const { return root / "learner.log"; }
  /// Written when a run ends, removed when it is resumed: actors that see it go home.
  std::filesystem::path summary() const { return root / "summary.json"; }
  std::filesystem::path latest_policy() const { return policies() / "latest.policy"; }
};

}
