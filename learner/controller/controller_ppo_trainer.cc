#include "learner/controller/controller_ppo_trainer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "learner/controller/controller_ppo.h"
#include "replay/dream_segment.h"

namespace regraft::learner {
namespace {

/// In deterministic mode an update is made of a fixed number of tickets in their order, however they came in.
class PpoTrainer : public DreamTrainer {
 public:
  PpoTrainer(const nn::ControllerFile& file, const PpoOptions& ppo, const DreamPhaseOptions& dream,
             const LearnerOptions& options)
      : file_(file),
        ppo_(file.config, file.weights, ppo, options.seed),
        lag0_(options.deterministic, "cpu"),
        steps_per_update_(options.steps_per_update),
        episodes_per_update_(options.episodes_per_update) {
    if (options.deterministic)
      tickets_per_update_ = (options.episodes_per_update + dream.replicas - 1) / dream.replicas;
  }

  TicketPlan::Options tickets(std::uint64_t seed, std::uint32_t models) const override {
    TicketPlan::Options plan{seed, models, static_cast<std::uint32_t>(replay::kMaxDreamedSteps)};
    plan.deterministic = tickets_per_update_ > 0;
    if (plan.deterministic) plan.episodes_per_update = tickets_per_update_;
    return plan;
  }
  void take(const wire::Delivery& delivery) override {
    taken_ = assemble_dreams(delivery, ppo_.config());
    taken_branches_ = branches_of(delivery);
    sequence_ = delivery.ticket.sequence;
  }
  std::uint64_t taken_version() const override { return taken_.front().weight_version; }
  void keep() override;
  std::vector<replay::Branch> branches() override { return std::exchange(branches_, {}); }
  std::uint64_t steps() const override { return batch_steps_; }
  std::uint64_t real_episodes() const override { return real_episodes_; }
  bool ready() const override {
    if (tickets_per_update_ > 0) return kept_.size() == tickets_per_update_;
    return steps_per_update_ > 0 ? batch_steps_ >= steps_per_update_
                                 : batch_episodes_ >= episodes_per_update_;
  }
  void update(double share, EventWriter& events, std::int64_t step) override;

  nn::ControllerFile controller() const override {
    nn::ControllerFile file = file_;
    file.weights = ppo_.weights();
    return file;
  }
  const DreamCounts& counts() const override { return counts_; }
  Lag0Record lag0() const override { return lag0_.record(); }
  std::vector<std::byte> save() const override { return ppo_.save(); }
  void restore(std::span<const std::byte> bytes) override { ppo_.restore(bytes); }
  void restore_counts(const nlohmann::json& saved, const Lag0Record& lag0) override {
    counts_.restore(saved);
    lag0_.restore(lag0);
  }

 private:
  nn::ControllerFile file_;
  ControllerPpo ppo_;
  Lag0Check lag0_;
  std::uint64_t steps_per_update_;        // 0: by episodes
  std::uint64_t episodes_per_update_;     // real and dreamed ones
  std::uint64_t tickets_per_update_ = 0;  // deterministic mode; 0: not so
  std::uint64_t sequence_ = 0, taken_in_all_ = 0;
  std::vector<replay::DreamSegment> taken_;
  /// By the ticket's place in the deterministic order, else by arrival.
  std::map<std::uint64_t, std::vector<replay::DreamSegment>> kept_;
  std::vector<replay::Branch> taken_branches_, branches_;
  std::uint64_t batch_steps_ = 0, batch_episodes_ = 0, real_episodes_ = 0;
  DreamCounts counts_;
};

void PpoTrainer::keep() {
  for (const replay::DreamSegment& segment : taken_) {
    batch_steps_ += segment.steps.size();
    if (!replay::ends_episode(segment)) continue;
    ++batch_episodes_;
    real_episodes_ += segment.source == replay::DreamSource::real ? 1 : 0;
  }
  kept_[tickets_per_update_ > 0 ? sequence_ : taken_in_all_++] = std::exchange(taken_, {});
  std::ranges::move(taken_branches_, std::back_inserter(branches_));
  taken_branches_.clear();
}

void PpoTrainer::update(double share, EventWriter& events, std::int64_t step) {
  std::vector<replay::DreamSegment> batch;
  for (auto& [place, segments] : kept_) std::ranges::move(segments, std::back_inserter(batch));
  kept_.clear();
  counts_.add(batch);
  for (replay::DreamSegment& segment : batch)
    segment.weight_version -= 1;  // on the wire 0 means none; to PPO it means fresh weights
  ppo_.anneal(share);
  const PpoMetrics metrics = ppo_.update(batch);
  lag0_.add(metrics);
  batch_steps_ = batch_episodes_ = real_episodes_ = 0;
  counts_.write(events, step);
  for (const auto& [name, value] :
       {std::pair{"entropy", metrics.entropy}, std::pair{"value_loss", metrics.value_loss},
        std::pair{"approx_kl", metrics.approx_kl}, std::pair{"clip_fraction", metrics.clip_fraction},
        std::pair{"explained_variance", metrics.explained_variance},
        std::pair{"lag0_ratio_max", metrics.lag0_ratio_max}})
    events.scalar(std::string("controller/") + name, step, value);
}

}  // namespace

std::unique_ptr<DreamTrainer> make_ppo_trainer(const nn::ControllerFile& file, const PpoOptions& ppo,
                                               const DreamPhaseOptions& dream,
                                               const LearnerOptions& options) {
  return std::make_unique<PpoTrainer>(file, ppo, dream, options);
}

}  // namespace regraft::learner
