#include "launch/optimise/measured_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/base/deadline.h"
#include "core/base/file.h"
#include "core/exec/runtime/exec_error.h"
#include "core/onnx/export.h"

namespace regraft::launch {
namespace {

constexpr int kMostRounds = 3;
constexpr double kClearlyCheaper = 0.998;  // times the cost

MeasuredCosts::Profile in_child(const OptimiseOptions& options, const std::filesystem::path& feed) {
  return [&options, feed, device = options.rates()](const std::filesystem::path& model) {
    return profile_in_child(model, feed, device, options.threads, options.seed,
                            options.profiled_runtime().origin());
  };
}

}  // namespace

MeasuredCosts::MeasuredCosts(const OptimiseOptions& options, const std::filesystem::path& feed,
                             const ModelGraphs& start, PointCosts& costs, Profile profile)
    : options_(options),
      start_(start),
      costs_(costs),
      profile_(profile ? std::move(profile) : in_child(options, feed)),
      corrects_(options.measures_kernels()) {
  if (!corrects_) return;
  fingerprint_ =
      cost::device_fingerprint(options.rates(), options.profiled_runtime().description(), options.threads);
  database_.emplace(options.database);
  known_ = database_->read(fingerprint_);
  if (!database_->problem().empty())
    std::fprintf(stderr, "regraft: warning: %s\n", database_->problem().c_str());
}

ProfileSummary MeasuredCosts::learn_from(const std::filesystem::path& model) {
  ProfileSummary profile = profile_(model);
  if (!corrects_) return profile;
  if (!profile.disturbed)
    keep(profile.samples);
  else if (disturbed_.empty())
    options_.say("other work keeps the machine busy, so measured kernels are not kept");
  auto& samples = profile.disturbed ? disturbed_ : known_;
  samples.insert(samples.end(), profile.samples.begin(), profile.samples.end());
  std::vector<cost::KernelSample> all = known_;
  std::ranges::copy_if(disturbed_, std::back_inserter(all),
                       [&](const cost::KernelSample& sample) { return !is_known(sample.features); });
  infers_symbols_ |= profile.infers_symbols;
  costs_.correct(start_, all, infers_symbols_);
  return profile;
}

std::vector<cost::KernelSample> MeasuredCosts::kernels_of(const std::filesystem::path& model) const {
  try {
    return profile_(model).samples;
  } catch (const exec::ExecError& error) {
    options_.warn(std::string("its kernels are not in the report: ") + error.what());
    return {};
  }
}

bool MeasuredCosts::is_known(const cost::KernelFeatures& kernel) const {
  return std::ranges::find(known_, kernel, &cost::KernelSample::features) != known_.end();
}

void MeasuredCosts::keep(std::span<const cost::KernelSample> samples) {
  const bool worked = database_->usable();
  database_->write(fingerprint_, samples);
  if (worked && !database_->usable())
    std::fprintf(stderr, "regraft: warning: %s\n", database_->problem().c_str());
}

CheckedSearch::Proposal MeasuredCosts::search(CheckedSearch& search, const onnx::ImportedModel& model,
                                              const rules::RuleSet& rules,
                                              const CheckedSearch::TimedStep& timed_step, double all_s,
                                              const std::optional<CheckedSearch::Proposal>& from) {
  if (from && all_s <= 0) return *from;
  const auto graphs_of = [&](const Paths& paths) { return graphs_after(start_, rules, paths); };
  const auto cost_us = [&](const Paths& paths) { return costs_.latencies_us(graphs_of(paths))[0]; };
  const Deadline end(all_s);
  CheckedSearch::Proposal best = from ? *from : search.propose(start_, all_s / 2);
  std::vector<CheckedSearch::Proposal> found{best};
  const auto improve = [&](double seconds) {
    const bool goes_on = from || best.seconds > seconds;  // from the start it would not get as far
    CheckedSearch::Proposal next = search.propose(goes_on ? graphs_of(best.paths) : start_, seconds);
    if (goes_on) next.follow(best);
    if (cost_us(next.paths) >= kClearlyCheaper * cost_us(best.paths)) return false;
    found.push_back(best = std::move(next));
    return true;
  };
  try {
    for (int round = 1; round <= kMostRounds && rewrites(best.paths); ++round) {
      timed_step("profile", [&] {
        const TempDir folder;
        onnx::export_model(model, graphs_of(best.paths), folder.path() / "found.onnx");
        learn_from(folder.path() / "found.onnx");
      });
      if (!improve(std::ldexp(all_s, -1 - round)) || end.is_over()) break;
    }
  } catch (const exec::ExecError& error) {  // the check of the whole model says what is to blame
    options_.warn(std::string("not profiled: ") + error.what());
  }
  // What the last profile says may speak for an earlier one.
  return *std::ranges::min_element(found, {}, [&](const auto& proposal) { return cost_us(proposal.paths); });
}

}
