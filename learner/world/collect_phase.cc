#include "learner/world/collect_phase.h"

#include <utility>

#include "learner/world/world_folder.h"

namespace regraft::learner {
namespace {

class CollectPhase : public Phase {
 public:
  CollectPhase(CollectSetup setup, const Clock& clock)
      : Phase({.name = "collect", .limited = false, .lock_step = setup.job.options.deterministic}),
        setup_(std::move(setup)),
        collection_(setup_, 1, clock) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t) override {
    collection_.restore(saved);
    return {};
  }
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo&, std::uint64_t) override {
    return collection_.next_ticket();
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override {
    return collection_.judge(delivery);
  }
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t) override {
    collection_.admit(std::move(result));
  }
  PhaseStatus status(std::uint64_t) const override {
    return {.ready = collection_.enough() && !collection_.complete(),
            .done = collection_.complete(),
            .settled = collection_.settled()};
  }
  UpdateResult update(const JobFigures& job) override {
    collection_.finish(job);
    return {.save_now = true};
  }

  PhaseState save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures& job) override {
    return collection_.save(job);
  }
  PhaseReport report(const JobFigures& job) override { return collection_.report(job); }
  void export_as(const std::string&, const JobFigures&) override {
    if (collection_.complete()) collection_.write();
  }
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override {
    const nlohmann::json figures = collection_.figures(traits().name, job, ticket_counts);
    std::string text = RolloutCollection::describe(figures) + "\n" + collection_.describe_shortage(figures);
    if (job.finished) text += "results: " + WorldFolder(setup_.job.folder).root.string() + "\n";
    return {figures, text, true, {}};
  }

 private:
  const CollectSetup setup_;
  RolloutCollection collection_;
};

}  // namespace

std::unique_ptr<Phase> make_collect_phase(CollectSetup setup, const Clock& clock) {
  return std::make_unique<CollectPhase>(std::move(setup), clock);
}

}  // namespace regraft::learner
