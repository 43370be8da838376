#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/task/workload.h"

namespace regraft::launch {

/// Scripts of a folder that are for a model: MODEL-*.script, by name. Throws UsageError where the folder is
/// none.
std::vector<std::filesystem::path> scripts_for(const std::filesystem::path& folder, const std::string& model);

/// Where a script leads, by predicted cost.
struct ScriptOutcome {
  cost::Cost initial, last;
  double best_us = 0;  // of the graphs on the way, the first and the last among them
  std::uint64_t rewrites = 0;
};

/// Carries a script out on a task's graph; nothing where it wants rules that make a runtime's own ops, which
/// the task's set leaves out. Throws RuleError as rules::run_script does.
std::optional<ScriptOutcome> try_script(const std::filesystem::path& script, const task::Task& task);

}
