#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/cost/measured_kernels.h"
#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/runtime/exec_error.h"
#include "launch/call/feed_options.h"

namespace regraft::launch {

// Commands of this program in processes of their own: memory of models, and crashes of the runtime, stay out
// of this one. Each throws ExecError when that process fails or prints no report.

/// The process ended by a fault, such as a runtime's on a model that it cannot run, or for want of memory.
class CrashError : public exec::ExecError {
 public:
  using ExecError::ExecError;
};

/// Options of `regraft verify`.
struct ChildCheck {
  std::filesystem::path feed;
  std::uint64_t seed = 0;
  bool bit_equal = false;
  std::vector<std::string> fixed = {};  // n=1: dims for whose sizes alone the other model is made
  bool finite = false;                  // the rewrites keep no Inf and no NaN in its place
  bool nonempty = false;                // they hold where no dim is 0
  std::optional<std::filesystem::path> session = {};  // the other model's session settings
  std::optional<double> probe_s = {};                 // EquivalenceOptions::probe_s
  bool verdict_only = false;                          // EquivalenceOptions::verdict_only
};

/// `regraft verify`: check_equivalence.
exec::EquivalenceReport verify_in_child(const std::filesystem::path& original,
                                        const std::filesystem::path& optimised, const ChildCheck& check);

/// What a model's time goes into, as `regraft profile` reports it.
struct ProfileSummary {
  double dense_share = 0;  // of the time in matrix products and convolutions, 0 to 1
  std::string text;        // one sentence
  // Its kernels beside those that the cost model predicts:
  double predicted_us = 0, measured_us = 0;  // of a run
  double agreed_share = 0;                   // of the time in kernels that both lists have, 0 to 1
  std::vector<cost::KernelSample> samples;
  std::vector<std::optional<double>> graph_runs;  // KernelLists::graph_runs
  bool infers_symbols = false;                    // KernelLists::infers_symbols
  double other_load = 0;                          // processors that other work kept busy meanwhile
  bool disturbed = false;  // they are so many that the times are not those of an idle machine

  /// The speedup if all other kernels were free; infinite where none is dense.
  double ceiling() const;
};

/// `regraft profile --kernels` with the runtime's threads inside an op.
ProfileSummary profile_in_child(const std::filesystem::path& model, const std::filesystem::path& feed,
                                const std::filesystem::path& device, int threads, std::uint64_t seed,
                                const std::string& runtime);

/// How the model is fed: exec::find_feed, with at most three quarters of the machine's memory and 600 s of
/// processor time. Throws what that throws.
exec::Feed feed_in_child(const std::filesystem::path& model, const FeedOptions& options, std::uint64_t seed);

/// A feed on disk, for child processes, as long as it lives.
class FeedFile {
 public:
  explicit FeedFile(const exec::Feed& feed);
  const std::filesystem::path& path() const { return path_; }

 private:
  TempDir folder_;
  std::filesystem::path path_;
};

}
