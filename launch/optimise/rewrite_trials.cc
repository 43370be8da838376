#include "launch/optimise/rewrite_trials.h"

#include <algorithm>
#include <utility>

#include "core/base/file.h"
#include "core/exec/runtime/exec_error.h"
#include "core/onnx/export.h"
#include "launch/optimise/blame.h"

namespace regraft::launch {

CheckedSearch::Result RewriteTrials::choose(const CheckedSearch::Result& found,
                                            std::span<const exec::SessionSettings> settings) {
  const Saved saved = saved_us();
  std::vector<Chosen> all;
  for (const exec::SessionSettings& one : settings) {
    parts_.report.changes = {};
    CheckedSearch::Result result = choose_in(one, found, saved);
    const auto is_same = [&](const Chosen& other) { return other.result.paths == result.paths; };
    if (std::ranges::none_of(all, is_same)) all.push_back({std::move(result), parts_.report.changes});
  }
  const auto is_rewritten = [](const Chosen& one) { return rewrites(one.result.paths); };
  if (settings.size() == 1 || std::ranges::none_of(all, is_rewritten)) return std::move(all[0].result);
  const auto [at, how] = fastest(all, settings);
  parts_.report.settings.output = settings[how];
  parts_.report.changes = all[at].changes;
  return parts_.search.check(all[at].result);  // report and log are those of the last ones
}

RewriteTrials::Saved RewriteTrials::saved_us() const {
  Saved saved;
  for (std::size_t i = cleaned(parts_.log); i < parts_.log.entries.size(); ++i)
    saved.push_back(parts_.log.entries[i].cost_before_us - parts_.log.entries[i].cost_after_us);
  return saved;
}

CheckedSearch::Result RewriteTrials::choose_in(const exec::SessionSettings& settings,
                                               CheckedSearch::Result found, const Saved& saved) {
  if (!try_out(settings, found, saved, trials_.budget_s) || !go_on_) return found;
  CheckedSearch::Proposal further = go_on_(found);
  if (further.paths == found.paths) return found;
  found = parts_.search.check(std::move(further));
  try_out(settings, found, saved_us(), trials_.budget_s / 2);
  return found;
}

bool RewriteTrials::try_out(const exec::SessionSettings& settings, CheckedSearch::Result& found,
                            const Saved& saved, double seconds) {
  CheckedSearch::Proposal chosen = found;
  const std::size_t taken_in = parts_.report.changes.taken_in.size();
  timed_trial([&] {
    const FoundRewrites from{parts_.model,
                             parts_.start,
                             parts_.rules,
                             parts_.costs.factories(),
                             settings,
                             parts_.costs.idle(),
                             std::max(1e-3, parts_.options.run_us(parts_.report.kernels.measured_us) / 1e3)};
    exec::TrialOptions trials = trials_;
    trials.budget_s = seconds;
    MeasuredChanges changes = parts_.report.changes;  // noted only where all trials could be made
    chosen.paths = MeasuredChoice(launcher_, trials, from, parts_.clock).choose(found.paths, saved, changes);
    parts_.report.changes = std::move(changes);
  });
  if (chosen.paths != found.paths) found = parts_.search.check(std::move(chosen));
  return parts_.report.changes.taken_in.size() > taken_in;
}

std::pair<std::size_t, std::size_t> RewriteTrials::fastest(std::span<const Chosen> all,
                                                           std::span<const exec::SessionSettings> settings) {
  std::size_t best = 0;
  timed_trial([&] {
    const TempDir folder;
    std::vector<exec::TimedModel> pairs;
    for (std::size_t at = 0; at < all.size(); ++at) {
      const std::filesystem::path file = folder.path() / (std::to_string(at) + ".onnx");
      onnx::export_model(parts_.model, all[at].result.graphs, file);
      for (const exec::SessionSettings& one : settings) pairs.emplace_back(file, one);
    }
    const exec::Measurement probe = exec::probe(launcher_, pairs[0], trials_);
    const auto others = exec::run_trials(launcher_, pairs[0], probe, std::span(pairs).subspan(1), trials_);
    double speedup = 1;
    for (std::size_t i = 0; i < others.size(); ++i)
      if (others[i].low > 1 && others[i].speedup > speedup) {
        best = i + 1;
        speedup = others[i].speedup;
      }
  });
  return {best / settings.size(), best % settings.size()};
}

void RewriteTrials::timed_trial(const std::function<void()>& work) const {
  timed_step_("trials", [&] {
    try {
      work();
    } catch (const exec::ExecError& error) {
      parts_.options.warn(std::string("no trials: ") + error.what());
    }
  });
}

}
