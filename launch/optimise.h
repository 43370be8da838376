#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/exec/feed.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "launch/call_files.h"
#include "launch/feeds.h"

namespace regraft::launch {

struct OptimiseOptions {
  std::filesystem::path input, output;
  std::optional<std::filesystem::path> policy, json, log;
  std::optional<std::filesystem::path> script;  // its rewrites are made, and nothing is searched
  std::filesystem::path rules = "configs/rules";
  std::filesystem::path device = "configs/devices/cpu-1core.toml";
  std::vector<std::string> domains;  // of a runtime's own ops that rules may make; output is portable without
  std::string search = "portfolio";  // none, or a name of launch/searches.h
  double budget_s = 60;
  std::uint64_t expansions = 0;  // 0: no limit
  std::string accept = "measured";
  int threads = 1;
  FeedOptions feed;
  std::uint64_t seed = 0;
  double measure_s = 60;  // aimed at for the measurement
  bool strict = false;    // without rules that ask something of the model's numbers (rule_marks.h)
  bool quiet = false;
};

/// A rule that the check of a rewrite's site or of the whole model refused, and that this model's search did
/// without; or one of its rewrites, which was left out.
struct RefusedRule {
  std::string rule;
  std::string reason;             // names the rewrite and the value that differs
  std::string left_out = "rule";  // or "rewrite"

  std::string text() const;
};

/// The figures at one of the sizes at which a model is judged.
struct PointReport {
  exec::SymbolSizes sizes;
  double cost_before = 0, cost_after = 0;  // predicted, us
  std::optional<double> speedup, speedup_low, speedup_high, latency_before_ms, latency_after_ms;

  std::string text() const;
};

/// What `regraft optimise` did. JSON keys as in the README; they are only ever added to.
struct OptimiseReport {
  bool accepted = false;
  std::string reason;
  bool verified = false;
  double max_relative_error = 0;
  std::optional<double> speedup, speedup_low, speedup_high, latency_before_ms,
      latency_after_ms;                    // where measured
  std::optional<double> dense_share;       // of the input's time in matrix products and convolutions, 0 to 1
  double cost_before = 0, cost_after = 0;  // predicted, us: of all graphs, each as often as it runs
  std::vector<exec::TakenSize> dims;       // dynamic ones, with the sizes taken
  std::vector<PointReport> points;         // the first is that of the figures above
  exec::SymbolSizes slower_at;  // larger sizes at which the result is predicted to be slower, if any
  std::size_t nodes_before = 0, nodes_after = 0;       // of all graphs, calls of functions opened
  std::map<std::string, int> rules;                    // applied, by name
  std::map<std::string, std::set<std::string>> marks;  // of these, and whose (rule_marks.h)
  std::vector<RefusedRule> refused_rules;
  std::uint64_t candidates_costed = 0;
  std::vector<std::pair<std::string, double>> seconds;  // by phase, in order
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t seed = 0;
  std::string search;    // asked for; "script" where one was given
  std::string found_by;  // of a search that has parts

  std::string time_holders;  // what the input's time goes into, in a sentence

  std::string to_json() const;
  /// What a person reads: at most a screen.
  std::string text() const;

 private:
  std::string found() const;
  std::string next_step() const;
};

/// A rewritten model that is not equivalent to its input: exit code 3, nothing is emitted.
class NotEquivalentError : public Error {
 public:
  using Error::Error;
};

/// import -> sizes and inputs -> clean-up -> profile -> search -> check of every rewrite site -> export aside
/// -> whole-model check in a process of its own -> replay of the log -> measurement -> output. A rule that a
/// site's check refuses is reported and the search made again without it. What makes the whole model another
/// one is found by bisection and left out (launch/blame.h). The bodies of If, Loop and Scan pass through all
/// of this beside the main graph; a script is of the main graph alone. A script (script.h) takes the
/// place of the search and passes the same checks; there a refusal ends it with NotEquivalentError, which
/// names the tensor and the rule. What is not accepted becomes a byte copy of the input; so does a model that
/// runs at no sizes. Any failure leaves no output. `files` are those of the call: no output may be external
/// data of the input.
OptimiseReport optimise(const OptimiseOptions& options, const CallFiles& files = {});

}  // namespace regraft::launch
