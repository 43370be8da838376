#include "learner/controller/evolution_trainer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "learner/optimiser/sep_cma_es.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

SepCmaEs evolution_of(const nn::ControllerFile& file, const DreamPhaseOptions& dream, std::uint64_t seed) {
  const auto query = std::span(file.weights.values).first(nn::query_parameters(file.config));
  return SepCmaEs({query.begin(), query.end()}, {dream.sigma, dream.population, seed});
}

/// Results of one generation, by the sequence of their tickets.
class EvolutionTrainer : public DreamTrainer {
 public:
  EvolutionTrainer(const nn::ControllerFile& file, const DreamPhaseOptions& dream,
                   const LearnerOptions& options, std::uint32_t models)
      : DreamTrainer(options.deterministic, "cpu"),
        file_(file),
        evolution_(evolution_of(file, dream, options.seed)),
        models_(models) {}

  TicketPlan::Options tickets(std::uint64_t seed, std::uint32_t models) const override {
    return {.seed = seed,
            .models = models,
            .segment_length = 0,
            .deterministic = true,
            .episodes_per_update = models * evolution_.population(),
            .common_seeds = true};
  }
  std::unique_ptr<DreamResult> judge(const wire::Delivery& delivery) const override;
  void admit(std::unique_ptr<DreamResult> result) override {
    results_[result->sequence] = std::move(result->returns);
  }
  bool ready() const override { return results_.size() == models_ * evolution_.population(); }
  void update(double share, CurvePoint& point) override;

  nn::ControllerFile controller() const override {
    nn::ControllerFile file = file_;
    std::ranges::copy(evolution_.mean(), file.weights.values.begin());
    return file;
  }
  std::vector<std::vector<float>> individuals() override {
    std::vector<std::vector<float>> all;
    for (const std::vector<double>& individual : evolution_.ask())
      all.emplace_back(individual.begin(), individual.end());
    return all;
  }
  std::vector<std::byte> save() const override { return evolution_.save(); }
  void restore(std::span<const std::byte> bytes) override { evolution_.restore(bytes); }

 private:
  nn::ControllerFile file_;
  SepCmaEs evolution_;
  std::size_t models_;
  std::map<std::uint64_t, replay::DreamReturns> results_;
};

std::unique_ptr<DreamResult> EvolutionTrainer::judge(const wire::Delivery& delivery) const {
  if (delivery.parts.size() != 1 || delivery.parts.front().frames.size() != 1)
    throw replay::ReplayError("is not one individual's returns", "dreams", "");
  auto result = std::make_unique<DreamResult>();
  result->returns = replay::decode_returns(delivery.parts.front().frames.front().bytes());
  const replay::DreamReturns& returns = result->returns;
  const wire::Ticket& ticket = delivery.ticket;
  if (returns.ticket != ticket.id || returns.generation != ticket.generation ||
      returns.sequence != ticket.sequence || returns.weight_version != ticket.weight_version)
    throw replay::ReplayError("is of another ticket", "dreams", "");
  result->sequence = ticket.sequence;
  result->steps = returns.steps;
  result->weight_version = returns.weight_version;
  return result;
}

/// Evolution knows no learning rate.
void EvolutionTrainer::update(double, CurvePoint& point) {
  std::vector<double> losses(evolution_.population(), 0.0);
  std::vector<double> all;
  std::uint64_t steps = 0;
  for (const auto& [sequence, result] : results_) {
    const double sum = std::accumulate(result.returns.begin(), result.returns.end(), 0.0);
    losses[replay::individual_of(sequence, models_, losses.size())] -=
        sum / static_cast<double>(result.returns.size() * models_);
    all.insert(all.end(), result.returns.begin(), result.returns.end());
    steps += result.steps;
  }
  counts().add_dreamed(all, steps);
  evolution_.tell(losses);
  results_.clear();
  counts().add_to(point);
  point.add("controller/best_individual", -std::ranges::min(losses));
  point.add("controller/step_size", evolution_.sigma());
}

}  // namespace

std::unique_ptr<DreamTrainer> make_evolution_trainer(const nn::ControllerFile& file,
                                                     const DreamPhaseOptions& dream,
                                                     const LearnerOptions& options, std::uint32_t models) {
  return std::make_unique<EvolutionTrainer>(file, dream, options, models);
}

}
