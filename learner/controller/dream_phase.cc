#include "learner/controller/dream_phase.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/named_by_config.h"
#include "core/nn/model/world_bundle.h"
#include "learner/controller/controller_ppo_trainer.h"
#include "learner/controller/dream_results.h"
#include "learner/controller/dyna.h"
#include "learner/controller/evolution_trainer.h"
#include "learner/job/checkpoint.h"
#include "learner/job/ticket_plan.h"
#include "replay/dream/dream_work.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

nn::WorldBundle load_world(const DreamPhaseSetup& setup) {
  check_dream_options(setup.job.options, setup.dream, setup.dyna.has_value());
  if (setup.dream.world.empty())
    throw UsageError("no world model is given", "dream.world",
                     "name the file that the phase world-model made");
  return named_by_config([&] {
    nn::WorldBundle bundle = nn::load_bundle(setup.dream.world);
    require_same(bundle.world, setup.context, setup.dream.world.string());
    return bundle;
  });
}

/// Gone on with where the bundle has one.
nn::ControllerFile controller_of(const DreamPhaseSetup& setup, const nn::WorldBundle& bundle) {
  nn::ControllerFile file;
  const nn::DynamicsConfig& dynamics = bundle.world.config.dynamics;
  file.config = {.kind = setup.dream.controller,
                 .state = dynamics.latent + dynamics.hidden,
                 .rules = dynamics.rules,
                 .locations = bundle.world.config.locations,
                 .width = setup.dream.width};
  if (bundle.controller.empty()) {
    file.weights = nn::initial_weights(file.config, setup.job.options.seed);
    return file;
  }
  nn::ControllerFile held =
      named_by_config([&] { return nn::decode_controller(bundle.controller, setup.dream.world.string()); });
  if (held.config != file.config)
    throw UsageError("holds a controller of another kind or width than the job's", setup.dream.world.string(),
                     "give its dream.controller and dream.width, or a world model without a controller");
  return held;
}

std::unique_ptr<DreamTrainer> trainer_of(const DreamPhaseSetup& setup, const nn::ControllerFile& file,
                                         std::uint32_t models) {
  if (file.config.kind == nn::ControllerKind::linear)
    return make_evolution_trainer(file, setup.dream, setup.job.options, models);
  return make_ppo_trainer(file, setup.ppo, setup.dream, setup.job.options, setup.job.join);
}

class DreamPhase : public Phase {
 public:
  DreamPhase(DreamPhaseSetup setup, nn::WorldBundle bundle, const nn::ControllerFile& file,
             std::unique_ptr<DreamTrainer> trainer, const TicketPlan::Options& tickets)
      : Phase({.name = setup.dyna ? "dyna" : "dream",
               .lock_step = tickets.deterministic,
               .max_parts = static_cast<std::uint32_t>(replay::kMaxDreamSegments)}),
        setup_(std::move(setup)),
        bundle_(std::move(bundle)),
        file_(file),
        trainer_(std::move(trainer)),
        plan_(tickets) {
    if (setup_.dyna) dyna_.emplace(*setup_.dyna);
  }

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override;
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo& actor,
                                              std::uint64_t published) override {
    return dyna_ ? dyna_->next(actor.kind, plan_, published) : plan_.next(published);
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override;
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t updates) override;
  PhaseStatus status(std::uint64_t) const override {
    return {.ready = dyna_ ? dyna_->ready(gathered_.real_episodes, trainer_->ready()) : trainer_->ready(),
            .settled = gathered_.results == 0};
  }
  UpdateResult update(const JobFigures& job) override;

  PhaseState save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures&) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string& name, const JobFigures&) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts&) const override;

 private:
  /// Since the last update.
  struct Gathered {
    std::uint64_t results = 0, steps = 0, real_episodes = 0;
    std::vector<replay::Branch> branches;
    std::vector<double> staleness;
  };
  void take_over(const PhaseState& saved, std::uint64_t updates);
  std::vector<std::byte> weights(std::uint64_t updates);
  std::string describe(const json& figures) const;

  const DreamPhaseSetup setup_;
  nn::WorldBundle bundle_;
  nn::ControllerFile file_;
  std::unique_ptr<DreamTrainer> trainer_;
  TicketPlan plan_;
  std::optional<Dyna> dyna_;
  Gathered gathered_;
  std::optional<CurvePoint> point_;    // of an update
  std::uint64_t settled_tickets_ = 0;  // the plan's position right after the last update
  std::uint64_t steps_here_ = 0, refused_bundles_ = 0;
};

std::unique_ptr<TicketResult> DreamPhase::judge(const wire::Delivery& delivery) {
  try {
    check_not_refused(delivery);
    return trainer_->judge(delivery);
  } catch (const MixedBundles&) {
    ++refused_bundles_;
    throw;
  }
}

void DreamPhase::admit(std::unique_ptr<TicketResult> result, std::uint64_t updates) {
  std::unique_ptr<DreamResult> dreams(static_cast<DreamResult*>(result.release()));
  ++gathered_.results;
  gathered_.steps += dreams->steps;
  gathered_.real_episodes += dreams->real_episodes;
  std::ranges::move(dreams->branches, std::back_inserter(gathered_.branches));
  gathered_.staleness.push_back(static_cast<double>(updates + 1 - dreams->weight_version.value()));
  trainer_->admit(std::move(dreams));
}

UpdateResult DreamPhase::update(const JobFigures& job) {
  Gathered gathered = std::exchange(gathered_, {});
  steps_here_ += gathered.steps;
  CurvePoint point{.x = static_cast<std::int64_t>(job.updates + 1), .staleness = gathered.staleness};
  if (dyna_) dyna_->add(std::move(gathered.branches));
  trainer_->update(setup_.job.options.anneal ? job.annealed() : 1, point);
  if (dyna_) {
    dyna_->updated();
    dyna_->add_to(point);
  }
  point_ = std::move(point);
  settled_tickets_ = plan_.position();
  return {.weights = weights(job.updates + 1)};
}

/// Encoder, world model and controller go out as one.
std::vector<std::byte> DreamPhase::weights(std::uint64_t updates) {
  const DreamCounts& counts = trainer_->counts();
  file_ = trainer_->controller();
  file_.training_record = json{
      {"phase", traits().name},
      {"updates", updates},
      {"dreamed_steps", counts.dreamed().steps},
      {"real_steps", counts.real().steps},
      {"tau",
       setup_.dream.tau}}.dump();
  replay::DreamWork work;
  work.individuals = trainer_->individuals();
  if (dyna_) work.branches = dyna_->branches();
  bundle_.work = replay::encode_work(work);
  bundle_.controller = nn::encode_controller(file_);
  bundle_.controller_of = bundle_.world.version();
  return nn::encode_bundle(bundle_);
}

PhaseState DreamPhase::save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures&) {
  PhaseState state;
  state.parts["controller"] = trainer_->save();
  if (dyna_) state.parts["dyna"] = dyna_->save();
  state.values = {
      {"tickets", settled_tickets_},
      {"world", bundle_.world.version().hex()},
      {"counts", trainer_->counts().save()},
      {"refused_bundles", refused_bundles_},
      {"ratio_error_lag0", trainer_->on_policy().record().ratio_error},
      {"lag0_steps", trainer_->on_policy().record().steps},
  };
  return state;
}

PhaseStart DreamPhase::restore(const PhaseState* saved, std::uint64_t updates) {
  if (saved != nullptr) take_over(*saved, updates);
  return {.weights = weights(updates)};
}

void DreamPhase::take_over(const PhaseState& saved, std::uint64_t updates) {
  const json& state = saved.values;
  if (state.at("world") != bundle_.world.version().hex())
    throw CheckpointError("was made with another world model", setup_.job.folder.checkpoints().string(),
                          "resume with the file it was started with");
  refused_bundles_ = state.at("refused_bundles");
  trainer_->counts().restore(state.at("counts"));
  trainer_->on_policy().restore({state.at("ratio_error_lag0"), state.at("lag0_steps")});
  trainer_->restore(saved.parts.at("controller"));
  if (dyna_) dyna_->restore(saved.parts.at("dyna"));
  plan_.resume(updates, state.at("tickets"));  // a generation of an evolution that was not whole comes again
  settled_tickets_ = plan_.position();
}

PhaseReport DreamPhase::report(const JobFigures& job) {
  if (point_) point_->add("wire/refused_bundles", static_cast<double>(refused_bundles_));
  const DreamCounts& counts = trainer_->counts();
  char note[160];
  std::snprintf(note, sizeof note, "return dreamed %.4f, real %.4f, %llu dreamed steps, %zu actors",
                counts.dreamed().mean_return(), counts.real().mean_return(),
                static_cast<unsigned long long>(counts.dreamed().steps), job.hub.actor_count());
  return {std::exchange(point_, std::nullopt),
          {.label = "dreaming",
           .unit = "updates",
           .total = setup_.job.options.updates,
           .done = job.updates,
           .note = note}};
}

/// The bundle that was published last; what actors do with it is no part of a policy.
void DreamPhase::export_as(const std::string& name, const JobFigures&) {
  const RunFolder& folder = setup_.job.folder;
  std::filesystem::create_directories(folder.policies());
  bundle_.work.clear();
  nn::save_bundle(bundle_, folder.policies() / (name + ".world"));
}

PhaseSummary DreamPhase::summary(const JobFigures& job, const wire::JobTicketCounts&) const {
  const DreamCounts& counts = trainer_->counts();
  json figures{
      {"finished", job.finished},
      {"updates", job.updates},
      {"dreamed_episodes", counts.dreamed().episodes},
      {"real_episodes", counts.real().episodes},
      {"dreamed_steps", counts.dreamed().steps},
      {"real_steps", counts.real().steps},
      {"seconds", job.seconds},
      {"first_dreamed_return", counts.dreamed().first_return},
      {"dreamed_return", counts.dreamed().mean_return()},
      {"real_return", counts.real().mean_return()},
      {"steps_per_second", static_cast<double>(steps_here_) / std::max(job.seconds_here, 1e-9)},
      {"ratio_error_lag0_max", trainer_->on_policy().record().ratio_error},
      {"lag0_steps", trainer_->on_policy().record().steps},
      {"refused_bundles", refused_bundles_},
  };
  if (dyna_)
    figures["dyna"] = {{"paused_updates", dyna_->paused_updates()}, {"branch_steps", dyna_->branch_steps()}};
  return {figures, describe(figures), true, trainer_->farewell()};
}

std::string DreamPhase::describe(const json& figures) const {
  const auto number = [&](const char* key) { return figures.at(key).get<double>(); };
  std::ostringstream out;
  out.precision(4);
  out << (figures.at("finished").get<bool>() ? "trained " : "stopped after ") << figures.at("updates")
      << " updates in " << number("seconds") << " s (" << number("steps_per_second") << " steps/s)\n"
      << "  dreamed: " << figures.at("dreamed_episodes") << " episodes, " << figures.at("dreamed_steps")
      << " steps; return " << number("first_dreamed_return") << " at first, " << number("dreamed_return")
      << " at last\n"
      << "  real:    " << figures.at("real_episodes") << " episodes, " << figures.at("real_steps")
      << " steps; return " << number("real_return") << " at last\n";
  if (dyna_)
    out << "  dyna:    dreams of " << dyna_->branch_steps() << " steps at last; paused in "
        << dyna_->paused_updates() << " updates\n";
  out << "checks: largest |pi/mu - 1| at lag 0 " << number("ratio_error_lag0_max")
      << "; bundles of mixed versions refused " << figures.at("refused_bundles") << "\n"
      << "bundle: " << (setup_.job.folder.policies() / "latest.world").string() << "\n";
  return out.str();
}

}  // namespace

void check_dream_options(const LearnerOptions& options, const DreamPhaseOptions& dream, bool dyna) {
  const bool linear = dream.controller == nn::ControllerKind::linear;
  if (linear && dyna)
    throw UsageError("the phase dyna trains by PPO", "dream.controller", "use hierarchical");
  if (linear && options.learners > 1)
    throw UsageError("an evolution has no gradients to share", "train.learners",
                     "leave it out, or use dream.controller=hierarchical");
  if (options.deterministic && dyna)
    throw UsageError("the phase dyna has no deterministic mode", "train.deterministic", "leave it out");
  if (options.deterministic && options.minutes > 0)
    throw UsageError("rates that fall with the clock are not deterministic", "train.minutes",
                     "leave it out and set train.updates");
}

void follow_dream_phase(const DreamPhaseSetup& setup) {
  follow_ppo_trainer(controller_of(setup, load_world(setup)), setup.ppo, setup.job.options, setup.job.join);
}

std::unique_ptr<Phase> make_dream_phase(DreamPhaseSetup setup) {
  nn::WorldBundle bundle = load_world(setup);
  const nn::ControllerFile file = controller_of(setup, bundle);
  const auto models = static_cast<std::uint32_t>(bundle.world.starts.size());
  std::unique_ptr<DreamTrainer> trainer = trainer_of(setup, file, models);
  const TicketPlan::Options tickets = trainer->tickets(setup.job.options.seed, models);
  return std::make_unique<DreamPhase>(std::move(setup), std::move(bundle), file, std::move(trainer), tickets);
}

}
