#include "core/exec/latency/trials.h"

#include <algorithm>
#include <utility>

#include "core/exec/latency/timing_plan.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

constexpr int kLeastTrialRuns = 2;

double seconds_of_round(const Measurement& probe, std::size_t models) {
  const TimingPlan plan = timing_plan(probe.latency_ms() / 1e3, kLeastTrialRuns);
  return session_seconds(probe, plan) * static_cast<double>(models);
}

/// One model against the first.
struct Contender {
  MeasureRequest request;
  std::vector<double> first_ms, own_ms;  // of the rounds that it ran in
  SpeedupEstimate estimate;
  bool decided = false;
};

MeasureRequest request_for(const TimedModel& timed, const TimingPlan& plan, const TrialOptions& options) {
  MeasureRequest request{timed.model, options.threads, plan, options.feed, options.point, options.seed};
  request.settings = timed.settings;
  return request;
}

/// A contender that the runtime cannot run has lost.
void run_session(Launcher& launcher, Contender& contender) {
  try {
    contender.own_ms.push_back(launcher.measure(contender.request).latency_ms());
  } catch (const ExecError&) {
    contender.estimate = {0, 0, 0};
    contender.decided = true;
  }
}

}  // namespace

Measurement probe(Launcher& launcher, const TimedModel& model, const TrialOptions& options) {
  return launcher.measure(request_for(model, kProbe, options));
}

std::size_t affordable_contenders(const Measurement& first, const TrialOptions& options) {
  const double models = options.budget_s / (options.least_rounds * seconds_of_round(first, 1));
  return models < 1 ? 0 : static_cast<std::size_t>(models) - 1;
}

std::vector<SpeedupEstimate> run_trials(Launcher& launcher, const TimedModel& first,
                                        const Measurement& first_probe,
                                        std::span<const TimedModel> contenders, const TrialOptions& options) {
  const TimingPlan plan = timing_plan(first_probe.latency_ms() / 1e3, kLeastTrialRuns);
  const MeasureRequest request = request_for(first, plan, options);
  std::vector<Contender> all;
  for (const TimedModel& contender : contenders)
    all.push_back({request_for(contender, plan, options), {}, {}, {}, false});

  Rng order(options.seed, "trial order"), resampling(options.seed, "trial bootstrap");
  double spent_s = 0;
  for (int round = 1; round <= options.most_rounds; ++round) {
    std::vector<Contender*> running{nullptr};  // the first model
    for (Contender& contender : all)
      if (!contender.decided) running.push_back(&contender);
    const double next_s = seconds_of_round(first_probe, running.size());
    if (running.size() == 1 || (round > options.least_rounds && spent_s + next_s > options.budget_s)) break;
    spent_s += next_s;
    for (std::size_t i = running.size(); i > 1; --i) std::swap(running[i - 1], running[order.below(i)]);
    double first_ms = 0;
    for (Contender* contender : running)
      contender ? run_session(launcher, *contender) : void(first_ms = launcher.measure(request).latency_ms());
    for (Contender* contender : running) {
      if (!contender || contender->decided) continue;
      contender->first_ms.push_back(first_ms);
      if (round < options.least_rounds) continue;
      contender->estimate = estimate_speedup(contender->first_ms, contender->own_ms, resampling);
      contender->decided = contender->estimate.low > 1 || contender->estimate.high < 1;
    }
    if (options.progress)
      options.progress(round, static_cast<std::size_t>(std::ranges::count(all, false, &Contender::decided)));
  }
  std::vector<SpeedupEstimate> estimates;
  for (const Contender& contender : all) estimates.push_back(contender.estimate);
  return estimates;
}

}
