#include "launch/replay_log.h"

#include "actors/config_files.h"
#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite_log.h"

namespace regraft::launch {

ReplayReport check_replay(const std::filesystem::path& original, const std::filesystem::path& optimised,
                          const std::filesystem::path& log_path, const std::filesystem::path& rules_path) {
  const rules::RewriteLog log = rules::RewriteLog::load(log_path);
  if (log.input_sha256 != sha256_file(original))
    throw rules::RuleError("was written for another model", log_path.string(),
                           "give the model that was optimised");
  if (log.result == "input") return {0, log.input_sha256 == sha256_file(optimised)};
  const rules::RuleSet rules = actors::load_rule_set(rules_path);
  const onnx::ImportedModel model = onnx::import_model(original);
  graph::Graph graph = model.graph();
  if (log.result == "rewritten") rules::replay(log, graph, rules);
  // Beside the output, so that a model with external data names its file alike.
  const TempDir folder;
  const std::filesystem::path replayed = folder.path() / optimised.filename();
  onnx::export_model(model, graph, replayed);
  return {log.entries.size(), sha256_file(replayed) == sha256_file(optimised)};
}

}  // namespace regraft::launch
