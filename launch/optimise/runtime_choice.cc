#include "launch/optimise/runtime_choice.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/error.h"
#include "core/base/process.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/exec/equivalence/compare.h"
#include "core/exec/inputs/npz.h"
#include "core/exec/latency/timing_plan.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::launch {
namespace {

constexpr int kRounds = 5;         // of sessions, by which the fastest runtime is chosen; 2 where it is clear
constexpr int kLeastRuns = 3;      // of such a session
constexpr int kLeastSessions = 5;  // a side, where the result is measured in another runtime
constexpr double kLargestError = 0.01;
constexpr double kOtherShare = 0.25;  // of the time for measuring, for each of those

constexpr double kMostRewrites = 3;  // times as fast as the input; of 65 models none gained more

double best_ms(const RuntimeTimes& times) {
  return std::min(*times.before_ms, times.after_ms.value_or(*times.before_ms));
}

/// Whether each session of one candidate was faster than any of another.
bool is_clear(std::span<const std::size_t> candidates, std::span<const std::vector<double>> session_ms) {
  const auto slowest = [&](std::size_t i) { return std::ranges::max(session_ms[i]); };
  if (candidates.empty()) return true;
  const std::size_t best = *std::ranges::min_element(candidates, {}, slowest);
  return std::ranges::all_of(candidates, [&](std::size_t i) {
    return i == best || std::ranges::min(session_ms[i]) > slowest(best);
  });
}

}  // namespace

std::string describe_fastest(std::span<const RuntimeTimes> runtimes) {
  std::vector<const RuntimeTimes*> measured;
  for (const RuntimeTimes& times : runtimes)
    if (times.before_ms) measured.push_back(&times);
  if (measured.size() < 2) return "";
  const RuntimeTimes& first = *measured[0];
  const RuntimeTimes& fastest =
      **std::ranges::min_element(measured, {}, [](auto* one) { return best_ms(*one); });
  char text[300];
  std::snprintf(
      text, sizeof text, "the %s in %s: %.3fx as fast as the input in %s; the runtime alone gives %.3fx",
      best_ms(fastest) < *fastest.before_ms ? "result" : "input", fastest.name.c_str(),
      *first.before_ms / best_ms(fastest), first.name.c_str(), *first.before_ms / *fastest.before_ms);
  return text;
}

std::string RuntimeTimes::text() const {
  char text[80] = "";
  if (before_ms && after_ms)
    std::snprintf(text, sizeof text, "%.3f -> %.3f ms", *before_ms, *after_ms);
  else if (before_ms)
    std::snprintf(text, sizeof text, "%.3f ms", *before_ms);
  return name + (version.empty() ? "" : " " + version) + ": " + (problem.empty() ? text : problem);
}

RuntimeChoice::RuntimeChoice(std::span<const std::string> names, const exec::LatencyOptions& options)
    : options_(options) {
  for (const std::string& name : names) {
    Runtime runtime(name);
    if (std::ranges::find(candidates_, runtime.name(), [](auto& one) { return one.runtime.name(); }) !=
        candidates_.end())
      throw UsageError("there are two runtimes called " + runtime.name(), "--runtime", "name each once");
    candidates_.push_back({runtime, runtime.sessions(), {.name = runtime.name()}});
    if (runtime.is_default()) candidates_.back().times.version = runtime.version();
  }
  candidates_[0].was_chosen = true;
}

void RuntimeChoice::choose(const std::filesystem::path& input) {
  exec::MeasureRequest request{input, options_.threads, exec::kProbe, options_.feed, 0, options_.seed};
  std::vector<exec::TimingPlan> plans(candidates_.size());
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    attempt(candidates_[i], [&](Candidate& candidate) {
      candidate.times.version = candidate.runtime.version();
      plans[i] = exec::timing_plan(candidate.sessions->measure(request).latency_ms() / 1e3, kLeastRuns);
      able.push_back(i);
    });
  if (able.empty()) throw exec::ExecError(candidates_[0].times.problem, "", "");
  const auto take = [&](std::size_t fastest) {
    candidates_[chosen_].was_chosen = false;
    candidates_[chosen_ = fastest_ = fastest].was_chosen = true;
  };
  take(able[0]);
  if (able.size() == 1) return;
  std::vector<std::vector<double>> session_ms(candidates_.size());
  Rng order(options_.seed, "runtime order");
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = able.size(); i > 1; --i) std::swap(able[i - 1], able[order.below(i)]);
    for (const std::size_t i : able) {
      request.plan = plans[i];
      attempt(candidates_[i], [&](Candidate& candidate) {
        session_ms[i].push_back(candidate.sessions->measure(request).latency_ms());
      });
    }
    std::erase_if(able, [&](std::size_t i) { return !candidates_[i].times.problem.empty(); });
    if (round > 0 && is_clear(able, session_ms)) break;
  }
  if (able.empty()) throw exec::ExecError(candidates_[0].times.problem, "", "");
  for (const std::size_t i : able) candidates_[i].times.before_ms = median(session_ms[i]);
  take(*std::ranges::min_element(able, {}, [&](std::size_t i) { return *candidates_[i].times.before_ms; }));
}

bool RuntimeChoice::is_worth_trying(const Candidate& candidate) const {
  const std::optional<double> ms = candidate.times.before_ms;
  return ms && *ms <= kMostRewrites * candidates_[fastest_].times.before_ms.value_or(0);
}

std::size_t RuntimeChoice::worth_trying() const {
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::ranges::count_if(
             candidates_, [&](const Candidate& candidate) { return is_worth_trying(candidate); })));
}

void RuntimeChoice::choose_next() {
  const auto next = std::ranges::find_if(candidates_, [&](const Candidate& candidate) {
    return !candidate.was_chosen && is_worth_trying(candidate);
  });
  next->was_chosen = true;
  chosen_ = static_cast<std::size_t>(next - candidates_.begin());
}

void RuntimeChoice::go_back_to(const std::string& name) {
  while (chosen().name() != name) chosen_ = (chosen_ + 1) % candidates_.size();
}

double RuntimeChoice::slower() const {
  return *candidates_[chosen_].times.before_ms / *candidates_[fastest_].times.before_ms;
}

/// The input in the fastest runtime, and what it becomes in the chosen one.
class RuntimeChoice::Pair : public exec::Launcher {
 public:
  Pair(RuntimeChoice& choice, std::filesystem::path input) : choice_(choice), input_(std::move(input)) {}
  exec::Measurement measure(const exec::MeasureRequest& request) override {
    const std::size_t at = request.model == input_ ? choice_.fastest_ : choice_.chosen_;
    return choice_.candidates_[at].sessions->measure(request);
  }

 private:
  RuntimeChoice& choice_;
  const std::filesystem::path input_;
};

exec::LatencyReport RuntimeChoice::compare(const exec::TimedModel& input, const exec::TimedModel& result,
                                           const exec::LatencyOptions& options) {
  Pair sessions(*this, input.model);
  return exec::compare_latency(sessions, input, result, options);
}

exec::TrialOptions RuntimeChoice::trials(double budget_s) const {
  exec::TrialOptions trials;
  trials.threads = options_.threads;
  trials.budget_s = budget_s;
  trials.feed = options_.feed;
  trials.seed = options_.seed;
  return trials;
}

std::string RuntimeChoice::difference(const std::filesystem::path& input,
                                      const std::filesystem::path& result) {
  const TempDir folder;
  const auto outputs_of = [&](const std::filesystem::path& model) {
    exec::MeasureRequest request{model, options_.threads, exec::kProbe, options_.feed, 0, options_.seed};
    request.outputs = folder.path() / "outputs.npz";
    sessions().measure(request);
    return exec::read_npz(*request.outputs);
  };
  std::map<std::string, exec::Tensor> before, after;
  try {
    before = outputs_of(input);
    after = outputs_of(result);
  } catch (const exec::ExecError& error) {
    return error.what();
  }
  for (const auto& [number, output] : before) {
    if (!graph::is_float(output.dtype)) continue;  // the index of one of equals, say
    const exec::Difference difference = exec::compare(output, after[number]);
    if (!difference.problem.empty() || difference.relative_error > kLargestError)
      return "in " + chosen().name() + " its output " + number + " is another: " +
             (difference.problem.empty() ? "relative error " + std::to_string(difference.relative_error)
                                         : difference.problem);
  }
  return "";
}

void RuntimeChoice::note_input(double latency_ms) {
  RuntimeTimes& times = candidates_[fastest_].times;
  if (!times.before_ms) times.before_ms = latency_ms;
}

void RuntimeChoice::note_result(double speedup) {
  candidates_[chosen_].times.after_ms = *candidates_[fastest_].times.before_ms / speedup;
}

void RuntimeChoice::measure_elsewhere(const std::filesystem::path& input,
                                      const std::filesystem::path& result) {
  exec::LatencyOptions options = options_;
  options.budget_s *= kOtherShare;
  options.min_sessions = kLeastSessions;
  for (Candidate& candidate : candidates_) {
    if (candidate.times.after_ms || !candidate.times.problem.empty()) continue;
    attempt(candidate, [&](Candidate& other) {
      const exec::LatencyReport latency = exec::compare_latency(*other.sessions, input, result, options);
      other.times.after_ms = *other.times.before_ms / latency.estimate.speedup;
    });
  }
}

std::vector<RuntimeTimes> RuntimeChoice::times() const {
  std::vector<RuntimeTimes> times;
  for (const Candidate& candidate : candidates_) times.push_back(candidate.times);
  return times;
}

template <typename Work>
void RuntimeChoice::attempt(Candidate& candidate, Work work) {
  try {
    work(candidate);
  } catch (const exec::ExecError& error) {
    candidate.times.problem = error.what();
  } catch (const ProcessError& error) {  // without Python
    candidate.times.problem = error.what();
  }
}

}
