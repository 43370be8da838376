#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "launch/graphs/model_graphs.h"

namespace regraft::launch {

/// SHA-256 of a model's file. Where it has external data, of the digests of its file and of its data files,
/// so that damage to either shows.
std::string model_sha256(const onnx::ImportedModel& model);

/// A rewrite log on the model that it was written for.
class LogReplay {
 public:
  /// Throws what import throws, and RuleError where the log is of another model or rule set.
  LogReplay(const std::filesystem::path& original, const std::filesystem::path& log,
            const std::filesystem::path& rules);

  const rules::RewriteLog& log() const { return log_; }
  const onnx::ImportedModel& model() const { return model_; }
  /// The model after the first `count` entries, written to `path`. Throws RuleError where log and model part.
  void write_prefix(std::size_t count, const std::filesystem::path& path) const;
  /// Where each entry applied: the path of its body, if it is in one, and the names of the nodes' outputs in
  /// the model. Nodes that a rewrite made are named by their op.
  std::vector<std::string> places() const;

 private:
  ModelGraphs prefix(std::size_t count) const;

  rules::RewriteLog log_;
  onnx::ImportedModel model_;
  rules::RuleSet rules_;
};

struct ReplayReport {
  std::size_t rewrites = 0;                        // rules and clean-up steps
  std::map<std::string, std::int64_t> fixed = {};  // as the log has it
  bool identical = false;  // the replayed model has the bytes of the given one, external data included
};

/// Replays a rewrite log on the original and compares the bytes with `optimised`.
/// Throws what LogReplay throws.
ReplayReport check_replay(const std::filesystem::path& original, const std::filesystem::path& optimised,
                          const std::filesystem::path& log,
                          const std::filesystem::path& rules = "configs/rules");

}
