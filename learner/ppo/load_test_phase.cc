#include "learner/ppo/load_test_phase.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/mutex.h"
#include "core/base/named_by_config.h"
#include "core/base/resource_usage.h"
#include "learner/ppo/load_meter.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

PhaseTraits named_load_test(PhaseTraits traits) {
  traits.name = "load-test";
  return traits;
}

class LoadTestPhase : public Phase {
 public:
  LoadTestPhase(LoadTestSetup setup, const Clock& clock, std::unique_ptr<Phase> ppo)
      : Phase(named_load_test(ppo->traits())),
        setup_(std::move(setup)),
        clock_(clock),
        ppo_(std::move(ppo)),
        meter_(!setup_.options.replay.empty()) {}

  PhaseStart restore(const PhaseState*, std::uint64_t) override { return ppo_->restore(nullptr, 0); }
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo& actor,
                                              std::uint64_t published) override {
    return joined_ ? ppo_->next_ticket(actor, published) : std::nullopt;
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override;
  void admit(std::unique_ptr<TicketResult>, std::uint64_t) override {}
  PhaseStatus status(std::uint64_t) const override { return {.done = measured()}; }
  UpdateResult update(const JobFigures&) override { return {.made = false}; }

  PhaseState save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures&) override { return {}; }
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string&, const JobFigures&) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts&) const override;

 private:
  bool measured() const { return meter_.seconds() >= setup_.options.seconds && has_recorded(); }
  bool has_recorded() const {
    const MutexLock lock(mutex_);
    return recorded_.size() >= setup_.options.record;
  }
  void look(const JobFigures& job);
  std::string describe(const json& figures) const;

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

void LoadTestPhase::look(const JobFigures& job) {
  const std::vector<wire::ActorStatus>& actors = job.hub.actors;
  if (actors.size() < setup_.connections) return;
  joined_ = true;
  if (meter_.seconds() == 0 && std::ranges::any_of(actors, [](const auto& a) { return a.policy_steps == 0; }))
    return;
  if (meter_.seconds() < setup_.options.seconds)
    meter_.look({clock_.steady_ns(), wire::process_cpu_ns(), regraft::thread_cpu_ns(), job.moved, job.intake},
                actors);
}

/// No curves: they would be of the start too.
PhaseReport LoadTestPhase::report(const JobFigures& job) {
  look(job);
  if (meter_.seconds() == 0)
    return {.progress = {.label = "joining",
                         .unit = "actors",
                         .total = setup_.connections,
                         .done = std::min(job.hub.actors.size(), setup_.connections)}};
  return {.progress = {.label = "measuring",
                       .unit = "s",
                       .total = static_cast<std::uint64_t>(std::ceil(setup_.options.seconds)),
                       .done = static_cast<std::uint64_t>(meter_.seconds()),
                       .note = std::to_string(job.intake.steps) + " steps"}};
}

void LoadTestPhase::export_as(const std::string&, const JobFigures&) {
  const MutexLock lock(mutex_);
  if (!recorded_.empty())
    write_file_atomic(setup_.ppo.job.folder.root / "recorded.episodes", encode_episodes(recorded_));
}

PhaseSummary LoadTestPhase::summary(const JobFigures& job, const wire::JobTicketCounts&) const {
  json figures{{"measured", measured()}, {"joined", job.hub.actors.size()}};
  if (measured()) {
    figures.update(meter_.figures());
    figures["simulated_step_ms"] = setup_.simulated_step_ms;
    compare_loads(figures, setup_.baseline.is_null() ? figures : setup_.baseline);
    figures["replayed"] = setup_.options.replay;
    figures["learner_peak_mib"] = static_cast<double>(peak_rss_bytes()) / (1 << 20);
  }
  return {figures, describe(figures), measured(), {}};
}

std::string LoadTestPhase::describe(const json& figures) const {
  std::ostringstream out;
  out.precision(4);
  if (!figures.at("measured")) {
    out << "nothing was measured: " << figures.at("joined") << " of " << setup_.connections
        << " connections had joined; raise train.minutes, or lower actors.count\n";
    return out.str();
  }
  const auto number = [&](const char* key) { return figures.at(key).get<double>(); };
  out << "load test: " << number("steps_per_s") << " steps/s of " << figures.at("connections")
      << " connections in " << figures.at("actor_processes") << " processes, over " << number("seconds")
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

std::unique_ptr<Phase> make_load_test_phase(LoadTestSetup setup, const Clock& clock) {
  if (setup.ppo.job.options.deterministic)
    throw UsageError("a load test goes by the clock", "train.deterministic", "leave it out");
  std::unique_ptr<Phase> ppo = make_ppo_phase(setup.ppo);
  return std::make_unique<LoadTestPhase>(std::move(setup), clock, std::move(ppo));
}

}
