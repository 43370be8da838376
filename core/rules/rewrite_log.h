#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/cleanup.h"
#include "core/rules/rewrite.h"

namespace regraft::rules {

/// One logged rewrite: a clean-up step (name "clean-up:fold", one node) or a rule (its name, the matched
/// nodes).
struct LogEntry {
  std::string name;
  std::vector<graph::NodeId> nodes;
  double cost_before_us = 0;  // of rules only
  double cost_after_us = 0;
  std::vector<RuleMark> marks = {};  // of the rule

  bool operator==(const LogEntry&) const = default;
};

/// All that was done to a model, in order. Node ids are those of the importer, which are the same on every
/// import, so the log replays from the input to the same graph.
///
/// As text: JSON lines. First {"regraft_log": 1, "version", "input_sha256", "rule_set", "result"}, and
/// "domains" where any were allowed; then one
/// object an entry: {"name", "nodes"} and, for rules, {"cost_before_us", "cost_after_us"} and {"marks"} of
/// those that have any; last {"entries": N}, so that a torn file is noticed.
struct RewriteLog {
  static constexpr int kFormat = 1;

  std::string version;               // of the program
  std::string input_sha256;          // of the model file
  std::string rule_set;              // RuleSet::hash() as hex
  std::vector<std::string> domains;  // of runtimes' own ops that rules might make
  std::string result = "rewritten";  // or "input" (a byte copy), or "re-export" (no rewrites, no clean-up)
  std::vector<LogEntry> entries;

  bool operator==(const RewriteLog&) const = default;

  std::string to_text() const;
  /// Throws RuleError with `where` and the line for anything that to_text() does not write.
  static RewriteLog parse(std::string_view text, const std::string& where);
  static RewriteLog load(const std::filesystem::path& path);

  /// Number of rules applied, clean-up steps left out.
  std::size_t rule_count() const;
};

/// Does again what a log says, entry by entry, checking that each step is there as logged. Refers to all it
/// is given. Throws RuleError that names the entry where the graph and the log part.
class Replayer {
 public:
  /// Runs clean-up on the imported graph: no more than the first `count` entries.
  Replayer(const RewriteLog& log, graph::Graph& graph, const RuleSet& rules, std::size_t count = SIZE_MAX);
  /// Entries done.
  std::size_t done() const { return done_; }
  /// Applies the next entry, a rule. There must be one.
  void next();

 private:
  const RewriteLog& log_;
  graph::Graph& graph_;
  const RuleSet& rules_;
  std::size_t done_ = 0;
};

/// Replays the first `count` entries: of any two prefixes the shorter one is on the way to the longer one.
void replay(const RewriteLog& log, graph::Graph& graph, const RuleSet& rules, std::size_t count = SIZE_MAX);

}  // namespace regraft::rules
