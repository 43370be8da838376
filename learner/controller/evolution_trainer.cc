#include "learner/controller/evolution_trainer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "learner/optimiser/sep_cma_es.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

SepCmaEs evolution_of(const nn::ControllerFile& file, const DreamPhaseOptions& dream, std::uint64_t seed) {
  const auto query = std::span(file.weights.values).first(nn::query_parameters(file.config));
  return SepCmaEs({query.begin(), query.end()}, {dream.sigma, dream.population, seed});
}

/// Results of one generation, by the sequence of their tickets.
class EvolutionTrainer : public DreamTrainer {
 public:
  EvolutionTrainer(const nn::ControllerFile& file, const DreamPhaseOptions& dream, std::uint64_t seed,
                   std::uint32_t models)
      : file_(file), evolution_(evolution_of(file, dream, seed)), models_(models) {}

  TicketPlan::Options tickets(std::uint64_t seed, std::uint32_t models) const override {
    return {.seed = seed,
            .models = models,
            .segment_length = 0,
            .deterministic = true,
            .episodes_per_update = models * evolution_.population(),
            .common_seeds = true};
  }
  void take(const wire::Delivery& delivery) override;
  std::uint64_t taken_version() const override { return taken_.weight_version; }
  void keep() override {
    const std::uint64_t sequence = taken_.sequence;
    results_[sequence] = std::exchange(taken_, {});
  }
  std::vector<replay::Branch> branches() override { return {}; }
  std::uint64_t steps() const override;
  std::uint64_t real_episodes() const override { return 0; }
  bool ready() const override { return results_.size() == models_ * evolution_.population(); }
  void update(double share, EventWriter& events, std::int64_t step) override;

  nn::ControllerFile controller() const override {
    nn::ControllerFile file = file_;
    std::ranges::copy(evolution_.mean(), file.weights.values.begin());
    return file;
  }
  std::vector<std::vector<float>> candidates() override {
    std::vector<std::vector<float>> all;
    for (const std::vector<double>& candidate : evolution_.ask())
      all.emplace_back(candidate.begin(), candidate.end());
    return all;
  }
  const DreamCounts& counts() const override { return counts_; }
  std::vector<std::byte> save() const override { return evolution_.save(); }
  void restore(std::span<const std::byte> bytes) override { evolution_.restore(bytes); }
  void restore_counts(const nlohmann::json& saved, const Lag0Record&) override { counts_.restore(saved); }

 private:
  nn::ControllerFile file_;
  SepCmaEs evolution_;
  std::size_t models_;
  replay::DreamReturns taken_;
  std::map<std::uint64_t, replay::DreamReturns> results_;
  DreamCounts counts_;
};

void EvolutionTrainer::take(const wire::Delivery& delivery) {
  if (delivery.parts.size() != 1 || delivery.parts.front().frames.size() != 1)
    throw replay::ReplayError("is not one candidate's returns", "dreams", "");
  taken_ = replay::decode_returns(delivery.parts.front().frames.front().bytes());
  const wire::Ticket& ticket = delivery.ticket;
  if (taken_.ticket != ticket.id || taken_.generation != ticket.generation ||
      taken_.sequence != ticket.sequence || taken_.weight_version != ticket.weight_version)
    throw replay::ReplayError("is of another ticket", "dreams", "");
}

std::uint64_t EvolutionTrainer::steps() const {
  std::uint64_t steps = 0;
  for (const auto& [sequence, result] : results_) steps += result.steps;
  return steps;
}

/// Evolution knows no learning rate.
void EvolutionTrainer::update(double, EventWriter& events, std::int64_t step) {
  std::vector<double> losses(evolution_.population(), 0.0);
  std::vector<double> all;
  for (const auto& [sequence, result] : results_) {
    const double sum = std::accumulate(result.returns.begin(), result.returns.end(), 0.0);
    losses[replay::candidate_of(sequence, models_, losses.size())] -=
        sum / static_cast<double>(result.returns.size() * models_);
    all.insert(all.end(), result.returns.begin(), result.returns.end());
  }
  counts_.add_dreamed(all, steps());
  evolution_.tell(losses);
  results_.clear();
  counts_.write(events, step);
  events.scalar("controller/best_candidate", step, -std::ranges::min(losses));
  events.scalar("controller/step_size", step, evolution_.sigma());
}

}  // namespace

std::unique_ptr<DreamTrainer> make_evolution_trainer(const nn::ControllerFile& file,
                                                     const DreamPhaseOptions& dream,
                                                     const LearnerOptions& options, std::uint32_t models) {
  return std::make_unique<EvolutionTrainer>(file, dream, options.seed, models);
}

}  // namespace regraft::learner
