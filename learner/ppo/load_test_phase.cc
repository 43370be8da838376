#include "learner/ppo/load_test_phase.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/mutex.h"
#include "core/base/process.h"
#include "core/base/usage.h"
#include "learner/job/checkpoint.h"
#include "learner/ppo/load_meter.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

class LoadTestPhase : public Phase {
 public:
  LoadTestPhase(LoadTestSetup setup, const Clock& clock)
      : setup_(std::move(setup)),
        clock_(clock),
        ppo_(make_ppo_phase(setup_.ppo)),
        meter_(!setup_.options.replay.empty()) {}

  PhaseTraits traits() const override {
    PhaseTraits traits = ppo_->traits();
    traits.name = "load-test";
    return traits;
  }
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo& actor,
                                              std::uint64_t published) override {
    return joined_ ? ppo_->next_ticket(actor, published) : std::nullopt;
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override;
  void admit(std::unique_ptr<TicketResult>, std::uint64_t) override {}
  bool ready(std::uint64_t) const override { return false; }
  UpdateResult update(const JobFigures&) override { return UpdateResult::nothing; }
  bool done() const override { return meter_.seconds() >= setup_.options.seconds && has_recorded(); }
  std::vector<std::byte> weights(const JobFigures& job) override { return ppo_->weights(job); }

  void save(Checkpoint&, json&, std::span<const std::unique_ptr<TicketResult>>, const JobFigures&) override {}
  TicketResults restore(const Checkpoint&, const json&, std::uint64_t) override { return {}; }

  std::optional<CurvePoint> point(const JobFigures& job) override;
  PhaseProgress progress(const JobFigures& job) const override;
  void export_as(const std::string&, const JobFigures&) override;
  json summary(const JobFigures& job, const wire::JobTicketCounts&) const override;
  std::string describe(const json& summary) const override;
  bool sound() const override { return done(); }

 private:
  bool has_recorded() const {
    const MutexLock lock(mutex_);
    return recorded_.size() >= setup_.options.record;
  }

  const LoadTestSetup setup_;
  const Clock& clock_;
  const std::unique_ptr<Phase> ppo_;
  std::atomic<bool> joined_ = false;
  LoadMeter meter_;
  mutable Mutex mutex_;
  std::vector<Episode> recorded_ GUARDED_BY(mutex_);
};

std::unique_ptr<TicketResult> LoadTestPhase::judge(const wire::Delivery& delivery) {
  std::unique_ptr<TicketResult> result = ppo_->judge(delivery);
  meter_.deliver(delivery, result->steps, clock_.steady_ns());
  if (!has_recorded()) {
    const MutexLock lock(mutex_);
    recorded_.push_back(assemble_episode(delivery));
  }
  return result;
}

/// No curves: they would be of the start too.
std::optional<CurvePoint> LoadTestPhase::point(const JobFigures& job) {
  const std::vector<wire::ActorStatus>& actors = job.hub.actors;
  if (actors.size() < setup_.connections) return std::nullopt;
  joined_ = true;
  if (meter_.seconds() == 0 && std::ranges::any_of(actors, [](const auto& a) { return a.policy_steps == 0; }))
    return std::nullopt;
  if (meter_.seconds() < setup_.options.seconds)
    meter_.look({clock_.steady_ns(), wire::process_cpu_ns(), regraft::thread_cpu_ns(), job.moved, job.intake},
                actors);
  return std::nullopt;
}

PhaseProgress LoadTestPhase::progress(const JobFigures& job) const {
  if (meter_.seconds() == 0)
    return {.label = "joining",
            .unit = "actors",
            .total = setup_.connections,
            .done = std::min(job.hub.actors.size(), setup_.connections)};
  return {.label = "measuring",
          .unit = "s",
          .total = static_cast<std::uint64_t>(std::ceil(setup_.options.seconds)),
          .done = static_cast<std::uint64_t>(meter_.seconds()),
          .note = std::to_string(job.intake.steps) + " steps"};
}

void LoadTestPhase::export_as(const std::string&, const JobFigures&) {
  const MutexLock lock(mutex_);
  if (!recorded_.empty())
    write_file_atomic(recorded_episodes(setup_.ppo.job.folder), encode_episodes(recorded_));
}

json LoadTestPhase::summary(const JobFigures& job, const wire::JobTicketCounts&) const {
  json summary{{"measured", done()}, {"joined", job.hub.actors.size()}};
  if (!done()) return summary;
  summary.update(meter_.figures());
  summary["simulated_step_ms"] = setup_.simulated_step_ms;
  compare_loads(summary, setup_.baseline.is_null() ? summary : setup_.baseline);
  summary["replayed"] = setup_.options.replay;
  summary["learner_peak_mib"] = static_cast<double>(peak_rss_bytes()) / (1 << 20);
  return summary;
}

std::string LoadTestPhase::describe(const json& summary) const {
  std::ostringstream out;
  out.precision(4);
  if (!summary.at("measured")) {
    out << "nothing was measured: " << summary.at("joined") << " of " << setup_.connections
        << " connections had joined; raise train.minutes, or lower actors.count\n";
    return out.str();
  }
  const auto number = [&](const char* key) { return summary.at(key).get<double>(); };
  out << "load test: " << number("steps_per_s") << " steps/s of " << summary.at("connections")
      << " connections in " << summary.at("actor_processes") << " processes, over " << number("seconds")
      << " s";
  if (setup_.simulated_step_ms > 0)
    out << "; SIMULATED: a step of an environment takes " << setup_.simulated_step_ms << " ms by waiting";
  if (!setup_.options.replay.empty()) out << "; replayed from " << setup_.options.replay;
  out << "\nCPU time a step: " << number("actor_cpu_us_per_step") << " us of actors, "
      << number("learner_cpu_us_per_step") << " of the learner, of which transport "
      << number("transport_cpu_us_per_step") << "; in all " << 100 * number("cpu_share") << " % of "
      << number("processors") << " processors, others beside it " << 100 * number("others_cpu_share")
      << " %\n"
      << "against the baseline: efficiency " << number("efficiency") << ", CPU time a step "
      << 100 * number("cpu_inflation") << " % more, " << number("predicted_steps_per_s")
      << " steps/s predicted\n";
  return out.str();
}

}  // namespace

std::filesystem::path recorded_episodes(const RunFolder& folder) {
  return folder.root / "recorded.episodes";
}

std::unique_ptr<Phase> make_load_test_phase(LoadTestSetup setup, const Clock& clock) {
  if (setup.ppo.job.options.deterministic)
    throw UsageError("a load test goes by the clock", "train.deterministic", "leave it out");
  return std::make_unique<LoadTestPhase>(std::move(setup), clock);
}

}  // namespace regraft::learner
