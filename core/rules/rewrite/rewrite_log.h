#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::rules {

/// The step that replaces a call by the nodes of the model-local function, or an If by the branch that is
/// sure to be taken. Its one "node" counts these steps. The importer makes them, before all others.
inline constexpr std::string_view kInlineStep = "clean-up:inline";

/// One logged rewrite: a clean-up step (CleanupStep::name, one node) or a rule (its name, the matched nodes).
struct LogEntry {
  std::string name;
  std::vector<graph::NodeId> nodes;
  double cost_before_us = 0;  // of rules only: of the entry's graph, in one run of the model
  double cost_after_us = 0;
  std::string graph =
      {};  // the body that was rewritten (onnx::ImportedModel::graph_path); empty: the main graph
  std::vector<RuleMark> marks = {};  // of the rule

  bool operator==(const LogEntry&) const = default;
};

/// All that was done to a model, in order. Node ids are those of the importer, which are the same on every
/// import, so the log replays from the input to the same graph.
///
/// As text: JSON lines. First {"regraft_log": 1, "version", "input_sha256", "rule_set", "result"}, and
/// "domains" and "fixed" where there are any. Then one object an entry: {"name", "nodes"}, for rules
/// {"cost_before_us", "cost_after_us"} and {"marks"} of those that have any, for bodies {"graph"}. Last
/// {"entries": N}, so that a torn file is noticed. Clean-up of all graphs comes before the first rule.
struct RewriteLog {
  static constexpr int kFormat = 1;

  std::string version;                             // of the program
  std::string input_sha256;                        // of the model file
  std::string rule_set;                            // RuleSet::hash() as hex
  std::vector<std::string> domains;                // of runtimes' own ops that rules might make
  std::map<std::string, std::int64_t> fixed = {};  // dims that had one size alone (onnx::ImportOptions)
  std::string result = "rewritten";  // or "input" (a byte copy), or "re-export" (no rewrites, no clean-up)
  std::vector<LogEntry> entries;

  bool operator==(const RewriteLog&) const = default;

  std::string to_text() const;
  /// Throws RuleError with `where` and the line for anything that to_text() does not write.
  static RewriteLog parse(std::string_view text, const std::string& where);
  static RewriteLog load(const std::filesystem::path& path);

  /// Number of rules applied, clean-up steps left out.
  std::size_t rule_count() const;
  /// Number of calls that the importer replaced.
  std::size_t inlined_count() const;
};

/// The graphs of one model, with what a log calls them.
using NamedGraphs = std::vector<std::pair<std::string, graph::Graph*>>;

/// Does again what a log says, entry by entry, checking that each step is there as logged. Refers to all it
/// is given. Throws RuleError that names the entry where the graph and the log part.
class Replayer {
 public:
  /// Runs clean-up on the imported graphs, in which calls have been replaced as logged: no more than the
  /// first `count` entries.
  Replayer(const RewriteLog& log, NamedGraphs graphs, const RuleSet& rules, std::size_t count = SIZE_MAX);
  /// For a model without bodies.
  Replayer(const RewriteLog& log, graph::Graph& graph, const RuleSet& rules, std::size_t count = SIZE_MAX)
      : Replayer(log, {{"", &graph}}, rules, count) {}
  /// Entries done.
  std::size_t done() const { return done_; }
  /// Applies the next entry, a rule. There must be one.
  void next();

 private:
  void clean_up_all(std::size_t limit);

  const RewriteLog& log_;
  NamedGraphs graphs_;
  const RuleSet& rules_;
  std::vector<Rewriter> rewriters_;  // of each graph
  std::size_t done_ = 0;
};

/// Replays the first `count` entries: of any two prefixes the shorter one is on the way to the longer one.
void replay(const RewriteLog& log, const NamedGraphs& graphs, const RuleSet& rules,
            std::size_t count = SIZE_MAX);
inline void replay(const RewriteLog& log, graph::Graph& graph, const RuleSet& rules,
                   std::size_t count = SIZE_MAX) {
  replay(log, {{"", &graph}}, rules, count);
}

}
