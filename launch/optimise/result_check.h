#pragma once

// Internal to launch/optimise.

#include <filesystem>
#include <functional>
#include <optional>

#include "core/exec/equivalence/equivalence_report.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "launch/call/subprocess_checks.h"
#include "launch/optimise/bisect.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/optimise_report.h"
#include "launch/optimise/output_files.h"

namespace regraft::launch {

/// Holds what stands aside, and the log that made it, against the input. One for each turn; all that it is
/// made of outlives it.
class ResultCheck {
 public:
  /// `probe_s` is asked at the first check and holds for the whole turn. After the first difference checks
  /// have twice as long, so that they reach what showed it.
  ResultCheck(const OptimiseOptions& options, const std::filesystem::path& feed, const OutputFiles& output,
              const rules::RewriteLog& log, const OptimiseReport& report, std::function<double()> probe_s)
      : options_(options),
        feed_(feed),
        output_(output),
        log_(log),
        report_(report),
        ask_probe_s_(std::move(probe_s)) {}

  /// For a check of its own.
  ChildCheck options(bool bit_equal) const;

  /// A result on which the runtime crashes counts as different. Where the check itself fails, nothing is
  /// comparable (`repeatable` is false). What a script made throws.
  exec::EquivalenceReport whole_model(bool bit_equal);

  /// Bisects the log, clean-up included, for the first entry with which the whole model is no longer
  /// equivalent, for so many seconds.
  std::optional<Bisection> bisect_entries(double seconds);

  /// Throws NotEquivalentError where the log does not replay to the same bytes.
  void replay_log() const;

 private:
  exec::EquivalenceReport check(const std::filesystem::path& model, ChildCheck how);
  std::filesystem::path write_log(const std::filesystem::path& folder) const;

  const OptimiseOptions& options_;
  const std::filesystem::path& feed_;
  const OutputFiles& output_;
  const rules::RewriteLog& log_;
  const OptimiseReport& report_;
  const std::function<double()> ask_probe_s_;
  std::optional<double> probe_s_;
  bool differed_ = false;
};

}
