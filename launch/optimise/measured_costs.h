#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cost/kernel_database.h"
#include "launch/call/subprocess_checks.h"
#include "launch/graphs/model_graphs.h"
#include "launch/optimise/checked_search.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/point_costs.h"

namespace regraft::launch {

/// Corrects predicted costs by the kernels that this machine launches: those that the database knows, and
/// those of the models that are profiled here, which it then knows too. With options.measures_kernels() false
/// it corrects nothing.
class MeasuredCosts {
 public:
  /// How a model is profiled.
  using Profile = std::function<ProfileSummary(const std::filesystem::path& model)>;

  /// All arguments outlive it. `start`: the graphs that others are compared with. Without `profile` it is
  /// profile_in_child.
  MeasuredCosts(const OptimiseOptions& options, const std::filesystem::path& feed, const ModelGraphs& start,
                PointCosts& costs, Profile profile = {});

  /// Profiles a model and corrects the costs by its kernels. What was measured beside other work counts for
  /// kernels of which nothing else is known, and the database does not keep it. Throws ExecError where it
  /// cannot be run.
  ProfileSummary learn_from(const std::filesystem::path& model);
  bool corrects() const { return corrects_; }
  /// A profile that corrects nothing and is not kept; empty, with a warning, where the model cannot be run
  /// so.
  std::vector<cost::KernelSample> kernels_of(const std::filesystem::path& model) const;

  /// Searches, profiles what was found, and searches again by what that says of its kernels, while something
  /// better is found: from the start, or, where that took more time than there was, from what was found.
  /// Where `from` is given, it goes on from that, or is that where there is no time. Not checked yet.
  /// `timed_step` runs work and notes its time under a name; `all_s` is for all searches from the start on.
  /// Where these and the profiles took it, nothing more is profiled. Of all that was found, the cheapest by
  /// all profiles counts.
  CheckedSearch::Proposal search(CheckedSearch& search, const onnx::ImportedModel& model,
                                 const rules::RuleSet& rules, const CheckedSearch::TimedStep& timed_step,
                                 double all_s, const std::optional<CheckedSearch::Proposal>& from = {});

 private:
  bool is_known(const cost::KernelFeatures& kernel) const;
  void keep(std::span<const cost::KernelSample> samples);

  const OptimiseOptions& options_;
  const ModelGraphs& start_;
  PointCosts& costs_;
  const Profile profile_;
  const bool corrects_;
  std::string fingerprint_;
  std::optional<cost::KernelDatabase> database_;
  std::vector<cost::KernelSample> known_;
  std::vector<cost::KernelSample> disturbed_;  // measured beside other work
  bool infers_symbols_ = false;
};

}
