#include "learner/controller/controller_ppo_trainer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/nn/inference/device.h"
#include "learner/controller/controller_ppo.h"
#include "learner/job/update_sharing.h"
#include "replay/dream/dream_segment.h"

namespace regraft::learner {
namespace {

/// In deterministic mode an update is made of a fixed number of tickets in their order, however they came in.
class PpoTrainer : public DreamTrainer {
 public:
  PpoTrainer(const nn::ControllerFile& file, const PpoOptions& ppo, const DreamPhaseOptions& dream,
             const LearnerOptions& options, JoinLearners join)
      : DreamTrainer(options.deterministic, nn::resolve_device(options.device)),
        file_(file),
        ppo_(file.config, file.weights, ppo, options.seed, options.device),
        sharing_(ppo_, std::move(join)),
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
  std::unique_ptr<DreamResult> judge(const wire::Delivery& delivery) const override;
  void admit(std::unique_ptr<DreamResult> result) override;
  bool ready() const override {
    if (tickets_per_update_ > 0) return kept_.size() == tickets_per_update_;
    return steps_per_update_ > 0 ? batch_steps_ >= steps_per_update_
                                 : batch_episodes_ >= episodes_per_update_;
  }
  void update(double share, CurvePoint& point) override;

  nn::ControllerFile controller() const override {
    nn::ControllerFile file = file_;
    file.weights = ppo_.weights();
    return file;
  }
  std::function<void()> farewell() const override { return sharing_.farewell(); }
  std::vector<std::byte> save() const override { return ppo_.save(); }
  void restore(std::span<const std::byte> bytes) override { ppo_.restore(bytes); }

 private:
  nn::ControllerFile file_;
  ControllerPpo ppo_;
  UpdateSharing sharing_;
  std::uint64_t steps_per_update_;        // 0: by episodes
  std::uint64_t episodes_per_update_;     // real and dreamed ones
  std::uint64_t tickets_per_update_ = 0;  // deterministic mode; 0: not so
  std::uint64_t admitted_ = 0;            // in all
  /// By the ticket's place in the deterministic order, else by arrival.
  std::map<std::uint64_t, std::vector<replay::DreamSegment>> kept_;
  std::uint64_t batch_steps_ = 0, batch_episodes_ = 0;
};

std::unique_ptr<DreamResult> PpoTrainer::judge(const wire::Delivery& delivery) const {
  auto result = std::make_unique<DreamResult>();
  result->segments = assemble_dreams(delivery, ppo_.config());
  result->branches = branches_of(delivery);
  result->sequence = delivery.ticket.sequence;
  result->weight_version = result->segments.front().weight_version;
  for (const replay::DreamSegment& segment : result->segments) {
    result->steps += segment.steps.size();
    if (replay::ends_episode(segment) && segment.source == replay::DreamSource::real) ++result->real_episodes;
  }
  return result;
}

void PpoTrainer::admit(std::unique_ptr<DreamResult> result) {
  batch_steps_ += result->steps;
  batch_episodes_ +=
      static_cast<std::uint64_t>(std::ranges::count_if(result->segments, replay::ends_episode));
  kept_[tickets_per_update_ > 0 ? result->sequence : admitted_++] = std::move(result->segments);
}

void PpoTrainer::update(double share, CurvePoint& point) {
  std::vector<replay::DreamSegment> batch;
  for (auto& [place, segments] : kept_) std::ranges::move(segments, std::back_inserter(batch));
  kept_.clear();
  counts().add(batch);
  sharing_.begin([&] { return ppo_.save(); });
  sharing_.tell([&] { return encode_controller_update(share, batch); });
  ppo_.anneal(share);
  const PpoMetrics metrics = ppo_.update(batch);
  on_policy().add(metrics);
  batch_steps_ = batch_episodes_ = 0;
  counts().add_to(point);
  for (const auto& [name, value] :
       {std::pair{"entropy", metrics.entropy}, std::pair{"value_loss", metrics.value_loss},
        std::pair{"approx_kl", metrics.approx_kl}, std::pair{"clip_fraction", metrics.clip_fraction},
        std::pair{"explained_variance", metrics.explained_variance},
        std::pair{"lag0_ratio_max", metrics.lag0_ratio_max}})
    point.add(std::string("controller/") + name, value);
}

}  // namespace

std::unique_ptr<DreamTrainer> make_ppo_trainer(const nn::ControllerFile& file, const PpoOptions& ppo,
                                               const DreamPhaseOptions& dream, const LearnerOptions& options,
                                               JoinLearners join) {
  return std::make_unique<PpoTrainer>(file, ppo, dream, options, std::move(join));
}

void follow_ppo_trainer(const nn::ControllerFile& file, const PpoOptions& ppo, const LearnerOptions& options,
                        const JoinLearners& join) {
  ControllerPpo controller(file.config, file.weights, ppo, options.seed, options.device);
  follow_updates(join, controller);
}

}
