#include "learner/ppo/load_meter.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/processors.h"

namespace regraft::learner {
namespace {

constexpr double kNsPerS = 1e9, kUsPerS = 1e6, kBytesPerMb = 1e6;

/// CPU time of the thread that took most, among those that lived at both moments.
std::uint64_t busiest_ns(const std::map<pid_t, std::uint64_t>& before,
                         const std::map<pid_t, std::uint64_t>& after) {
  std::uint64_t most = 0;
  for (const auto& [thread, ns] : after)
    if (const auto found = before.find(thread); found != before.end())
      most = std::max(most, ns - std::min(ns, found->second));
  return most;
}

}  // namespace

double LoadMeter::CounterInterval::per_s() const {
  return last_ns > first_ns
             ? static_cast<double>(value - first_value) * kNsPerS / static_cast<double>(last_ns - first_ns)
             : 0;
}

void LoadMeter::deliver(const wire::Delivery& delivery, std::uint64_t steps, std::int64_t now_ns) {
  if (!begun_) return;
  const MutexLock lock(mutex_);
  segments_ += delivery.parts.size();
  const auto [place, first] = steps_.try_emplace(delivery.actor.name, CounterInterval{.first_ns = now_ns});
  if (!first) place->second.value += steps;  // those of the first were made before it
  place->second.last_ns = now_ns;
}

void LoadMeter::look(LearnerLoad load, std::span<const wire::ActorStatus> actors) {
  for (const wire::ActorStatus& actor : actors) {
    const std::uint64_t told = actor.process_cpu_ns;
    const auto [place, first] = cpu_.try_emplace(actor.info.pid, CounterInterval{.value = told});
    CounterInterval& cpu = place->second;
    if (!first && told > cpu.value) {  // it was told between this look and the one before
      if (cpu.first_ns == 0) cpu.first_ns = load.at_ns, cpu.first_value = told;
      cpu.last_ns = load.at_ns;
      cpu.value = told;
    }
    const auto before = waited_before_ns_.try_emplace(actor.info.name, actor.waited_ns).first;
    waited_ns_ += actor.waited_ns - std::min(actor.waited_ns, before->second);
    before->second = actor.waited_ns;
  }
  actors_ = actors.size();
  now_ = std::move(load);
  if (others_) others_processors_ = others_->processors();
  if (begun_) return;
  others_.emplace();
  begin_ = now_;
  begun_ = true;
}

double LoadMeter::steps_per_s() const {
  if (replayed_) return static_cast<double>(now_.intake.steps - begin_.intake.steps) / seconds();
  double sum = 0;
  for (const auto& [actor, steps] : steps_) sum += steps.per_s();
  return sum;
}

nlohmann::json LoadMeter::figures() const {
  const MutexLock lock(mutex_);
  const double span_s = seconds(), rate = steps_per_s();
  double actor_cpu = 0;
  for (const auto& [process, cpu] : cpu_) actor_cpu += cpu.per_s() / kNsPerS;
  const auto us_per_step = [&](std::uint64_t cpu_ns) {
    return static_cast<double>(cpu_ns) / kNsPerS / span_s * kUsPerS / rate;
  };
  const double actors_us = actor_cpu * kUsPerS / rate, learner_us = us_per_step(now_.cpu_ns - begin_.cpu_ns);
  const auto processors = static_cast<double>(std::max<std::size_t>(own_processors().size(), 1));
  return {
      {"connections", actors_},
      {"actor_processes", cpu_.size()},
      {"processors", processors},
      {"seconds", span_s},
      {"steps_per_s", rate},
      {"segments_per_s", static_cast<double>(segments_) / span_s},
      {"payload_mb_per_s",
       static_cast<double>(now_.intake.payload_bytes - begin_.intake.payload_bytes) / kBytesPerMb / span_s},
      {"cpu_us_per_step", actors_us + learner_us},
      {"actor_cpu_us_per_step", actors_us},
      {"learner_cpu_us_per_step", learner_us},
      {"transport_cpu_us_per_step", us_per_step(now_.moved.cpu_ns - begin_.moved.cpu_ns)},
      {"busiest_thread_us_per_step", us_per_step(busiest_ns(begin_.thread_cpu_ns, now_.thread_cpu_ns))},
      {"cpu_share", (actors_us + learner_us) * rate / kUsPerS / processors},
      // Processes that have nothing to do with this job take part in what it finds.
      {"others_cpu_share", std::max(0.0, others_processors_ - actor_cpu) / processors},
      {"waiting_share", static_cast<double>(waited_ns_) / kNsPerS / span_s / static_cast<double>(actors_)}};
}

void compare_loads(nlohmann::json& figures, const nlohmann::json& baseline) {
  const auto of = [](const nlohmann::json& from, const char* key) { return from.at(key).get<double>(); };
  const double times = of(figures, "connections") / of(baseline, "connections");
  const double rate = of(baseline, "steps_per_s") * times;
  const double saturation = kUsPerS / std::max(of(baseline, "busiest_thread_us_per_step"),
                                               of(baseline, "cpu_us_per_step") / of(figures, "processors"));
  figures["efficiency"] = of(figures, "steps_per_s") / rate;
  for (const auto& [name, key] : {std::pair{"cpu_inflation", "cpu_us_per_step"},
                                  std::pair{"actor_cpu_inflation", "actor_cpu_us_per_step"}})
    figures[name] = of(figures, key) / of(baseline, key) - 1;
  const bool simulated = figures.at("simulated_step_ms") > 0;
  figures["predicted_steps_per_s"] = simulated ? rate : std::min(rate, saturation);
}

}
