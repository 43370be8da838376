#include "learner/controller/dream_phase.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/base/tensorboard.h"
#include "core/base/usage.h"
#include "core/nn/world_bundle.h"
#include "core/wire/hub.h"
#include "learner/controller/controller_ppo_trainer.h"
#include "learner/controller/dream_results.h"
#include "learner/controller/dyna.h"
#include "learner/controller/evolution_trainer.h"
#include "learner/job/checkpoint.h"
#include "learner/job/hub_setup.h"
#include "learner/job/job_curves.h"
#include "learner/job/ticket_plan.h"
#include "replay/dream_work.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPatience{200};  // for a result, before looking whether to stop
constexpr double kNsPerS = 1e9;
constexpr double kAnnealedAway = 0.9;  // of learning rate and entropy bonus, at the end of the run

nn::WorldBundle load_world(const DreamPhaseSetup& setup) {
  check_dream_options(setup.options, setup.dream, setup.dyna.has_value());
  if (setup.dream.world.empty())
    throw UsageError("no world model is given", "dream.world",
                     "name the file that the phase world-model made");
  return named_by_config([&] {
    nn::WorldBundle bundle = nn::load_bundle(setup.dream.world);
    require_same(bundle.world, setup.job, setup.dream.world.string());
    return bundle;
  });
}

/// Gone on with where the bundle has one.
nn::ControllerFile controller_of(const DreamPhaseSetup& setup, const nn::WorldBundle& bundle) {
  nn::ControllerFile file;
  const nn::DynamicsConfig& dynamics = bundle.world.config.dynamics;
  file.config = {.kind = setup.dream.controller,
                 .state = dynamics.latent + dynamics.hidden,
                 .xfers = dynamics.xfers,
                 .locations = bundle.world.config.locations,
                 .width = setup.dream.width};
  if (bundle.controller.empty()) {
    file.weights = nn::initial_weights(file.config, setup.options.seed);
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
    return make_evolution_trainer(file, setup.dream, setup.options, models);
  return make_ppo_trainer(file, setup.ppo, setup.dream, setup.options);
}

}  // namespace

void check_dream_options(const LearnerOptions& options, const DreamPhaseOptions& dream, bool dyna) {
  const bool linear = dream.controller == nn::ControllerKind::linear;
  if (linear && dyna)
    throw UsageError("the phase dyna trains by PPO", "dream.controller", "use hierarchical");
  if (options.deterministic && dyna)
    throw UsageError("the phase dyna has no deterministic mode", "train.deterministic", "leave it out");
  if (options.deterministic && options.minutes > 0)
    throw UsageError("rates that fall with the clock are not deterministic", "train.minutes",
                     "leave it out and set train.updates");
}

/// Everything that lives while the phase runs, in the order in which it is made.
struct DreamPhase::State {
  State(const DreamPhaseSetup& setup, const Clock& clock)
      : bundle(load_world(setup)),
        file(controller_of(setup, bundle)),
        ledger(setup.folder.journal(), run_id_of(setup.folder)),
        trainer(trainer_of(setup, file, models())),
        tickets(trainer->tickets(setup.options.seed, models())),
        plan(tickets, published),
        store(setup.folder.checkpoints(), setup.options.checkpoints_kept),
        events(setup.folder.events(), clock),
        curves(clock),
        progress({.label = "dreaming",
                  .unit = "updates",
                  .total = setup.options.updates,
                  .terminal = is_terminal(2)},
                 clock, std::cerr) {
    if (setup.dyna) dyna.emplace(*setup.dyna);
  }
  std::uint32_t models() const { return static_cast<std::uint32_t>(bundle.world.starts.size()); }

  nn::WorldBundle bundle;
  nn::ControllerFile file;
  std::uint64_t version = 1;                // of the bundle: 1 + updates
  std::atomic<std::uint64_t> published{0};  // what tickets ask for
  wire::Ledger ledger;
  std::unique_ptr<DreamTrainer> trainer;
  TicketPlan::Options tickets;
  TicketPlan plan;
  std::optional<Dyna> dyna;
  CheckpointStore store;
  EventWriter events;
  JobCurves curves;
  std::vector<double> staleness;  // of what was admitted since the last update
  Progress progress;
  std::unique_ptr<wire::Hub> hub;

  std::uint64_t steps_here = 0, refused_bundles = 0;
  double seconds_before = 0;  // of earlier generations
  std::int64_t started_ns = 0, saved_ns = 0;
  // Right after an update nothing admitted is untrained: what a checkpoint goes back to.
  wire::JournalMark trained_mark;
  std::uint64_t trained_tickets = 0;
};

DreamPhase::DreamPhase(DreamPhaseSetup setup, const Clock& clock)
    : setup_(std::move(setup)), clock_(clock), state_(std::make_unique<State>(setup_, clock)) {
  restore();
  wire::HubOptions hub = hub_options(setup_.folder, setup_.options, state_->ledger.run_id());
  hub.dispatch.max_parts = replay::kMaxDreamSegments;
  hub.dispatch.deterministic = state_->tickets.deterministic;
  const auto source = [state = state_.get()](const wire::ActorInfo& actor) {
    return state->dyna ? state->dyna->next(actor.kind, state->plan) : state->plan.next();
  };
  state_->hub = std::make_unique<wire::Hub>(std::move(hub), state_->ledger, source, clock_);
  note_trained();
  publish();
  state_->hub->run_info().save(setup_.folder.run_file());
  state_->started_ns = state_->saved_ns = clock_.steady_ns();
}
DreamPhase::~DreamPhase() = default;

std::uint64_t DreamPhase::generation() const {
  return state_->ledger.generation();
}

double DreamPhase::seconds() const {
  return state_->seconds_before + static_cast<double>(clock_.steady_ns() - state_->started_ns) / kNsPerS;
}

double DreamPhase::done_share() const {
  const LearnerOptions& options = setup_.options;
  double share = 0;
  if (options.updates > 0)
    share = static_cast<double>(state_->version - 1) / static_cast<double>(options.updates);
  if (options.minutes > 0) share = std::max(share, seconds() / (options.minutes * 60));
  return std::min(share, 1.0);
}

bool DreamPhase::limit_reached() const {
  const LearnerOptions& options = setup_.options;
  return (options.updates > 0 && state_->version - 1 >= options.updates) ||
         (options.minutes > 0 && seconds() >= options.minutes * 60);
}

DreamPhaseSummary DreamPhase::run(const std::stop_token& stopped) {
  while (!stopped.stop_requested() && !limit_reached()) {
    gather(stopped);
    if (save_requested_.exchange(false)) checkpoint();
    if (!ready()) continue;
    update();
    const double since_save = static_cast<double>(clock_.steady_ns() - state_->saved_ns) / kNsPerS;
    if (since_save >= setup_.options.checkpoint_minutes * 60) checkpoint();
    if (setup_.show_progress) report_progress();
  }
  state_->hub->stop_issuing();
  checkpoint();
  export_bundle("latest");
  DreamPhaseSummary result = summary();
  result.finished = limit_reached();
  state_->hub->stop();
  state_->events.flush();
  result.books = state_->ledger.books();
  if (setup_.show_progress) state_->progress.finish();
  write_file_atomic(setup_.folder.summary(), result.to_json());
  return result;
}

bool DreamPhase::ready() const {
  const DreamTrainer& trainer = *state_->trainer;
  return state_->dyna ? state_->dyna->ready(trainer.real_episodes(), trainer.ready()) : trainer.ready();
}

/// Takes results until there is enough for an update, or something else is due.
void DreamPhase::gather(const std::stop_token& stopped) {
  while (!ready() && !stopped.stop_requested() && !save_requested_) {
    const auto delivery = state_->hub->take(kPatience);
    if (!delivery) return;
    auto verdict = wire::Disposition::kAdmitted;
    try {
      check_not_refused(*delivery);
      state_->trainer->take(*delivery);
      if (state_->trainer->taken_version() + setup_.options.staleness < state_->version)
        verdict = wire::Disposition::kStale;
    } catch (const replay::ReplayError& error) {
      log_warning("rejected what {} sent: {}", delivery->actor.name, error.what());
      if (dynamic_cast<const MixedBundles*>(&error) != nullptr) ++state_->refused_bundles;
      if (state_->tickets.deterministic) throw;  // its place in the generation would stay empty
      verdict = wire::Disposition::kRejected;
    }
    const auto recorded = state_->hub->decide(delivery->ticket, verdict);
    if (verdict != wire::Disposition::kAdmitted || recorded != wire::Disposition::kAdmitted) continue;
    state_->staleness.push_back(static_cast<double>(state_->version - state_->trainer->taken_version()));
    state_->trainer->keep();
  }
}

void DreamPhase::update() {
  const auto step = static_cast<std::int64_t>(state_->version);
  state_->steps_here += state_->trainer->steps();
  if (state_->dyna) state_->dyna->add(state_->trainer->branches());
  state_->trainer->update(setup_.options.anneal ? 1 - kAnnealedAway * done_share() : 1, state_->events, step);
  if (state_->dyna) {
    state_->dyna->updated();
    state_->dyna->write(state_->events, step);
  }
  write_staleness(state_->events, step, std::exchange(state_->staleness, {}));
  state_->curves.write(state_->events, step, *state_->hub, state_->ledger);
  state_->events.scalar("wire/refused_bundles", step, static_cast<double>(state_->refused_bundles));
  ++state_->version;
  note_trained();
  publish();
  state_->hub->wake();
  state_->events.flush();
  const std::uint64_t updates = state_->version - 1;
  if (setup_.options.export_every > 0 && updates % setup_.options.export_every == 0)
    export_bundle("update-" + std::to_string(updates));
}

/// The bundle that was published last; what actors do with it is no part of a policy.
void DreamPhase::export_bundle(const std::string& name) {
  std::filesystem::create_directories(setup_.folder.policies());
  state_->bundle.work.clear();
  nn::save_bundle(state_->bundle, setup_.folder.policies() / (name + ".world"));
}

/// Encoder, world model and controller go out as one, and tickets for them from then on.
void DreamPhase::publish() {
  const DreamCounts& counts = state_->trainer->counts();
  state_->file = state_->trainer->controller();
  state_->file.training_record = json{
      {"phase", phase()},
      {"updates", state_->version - 1},
      {"dreamed_steps", counts.dreamed().steps},
      {"real_steps", counts.real().steps},
      {"tau", setup_.dream.tau}}.dump();
  replay::DreamWork work;
  work.candidates = state_->trainer->candidates();
  if (state_->dyna) work.branches = state_->dyna->branches();
  state_->bundle.work = replay::encode_work(work);
  state_->bundle.controller = nn::encode_controller(state_->file);
  state_->bundle.controller_of = state_->bundle.world.version();
  state_->hub->publish(state_->version, nn::encode_bundle(state_->bundle));
  state_->published = state_->version;  // not before: an actor would be given older work under this ticket
}

void DreamPhase::report_progress() {
  const DreamCounts& counts = state_->trainer->counts();
  char note[160];
  std::snprintf(note, sizeof note, "return dreamed %.4f, real %.4f, %llu dreamed steps, %zu actors",
                counts.dreamed().mean_return(), counts.real().mean_return(),
                static_cast<unsigned long long>(counts.dreamed().steps), state_->hub->status().actors.size());
  state_->progress.update(state_->version - 1, note);
}

void DreamPhase::note_trained() {
  state_->trained_mark = state_->ledger.mark();
  state_->trained_tickets = state_->plan.position();
}

void DreamPhase::checkpoint() {
  Checkpoint checkpoint;
  checkpoint.number = state_->version - 1;
  checkpoint.parts["controller"] = state_->trainer->save();
  if (state_->dyna) checkpoint.parts["dyna"] = state_->dyna->save();
  json own = checkpoint_state(phase(), setup_.config_toml, state_->trained_mark);
  own.update({{"updates", state_->version - 1},
              {"seconds", seconds()},
              {"tickets", state_->trained_tickets},
              {"world", state_->bundle.world.version().hex()},
              {"counts", state_->trainer->counts().save()},
              {"job_curves", state_->curves.save()},
              {"refused_bundles", state_->refused_bundles},
              {"ratio_error_lag0", state_->trainer->lag0().ratio_error},
              {"lag0_steps", state_->trainer->lag0().steps}});
  checkpoint.state = own.dump();
  state_->store.save(checkpoint);
  state_->saved_ns = clock_.steady_ns();
}

void DreamPhase::restore() {
  const auto checkpoint = state_->store.resume(phase());
  if (!checkpoint) {
    if (generation() > 1) state_->events.restart(1);
    return roll_back(state_->ledger, checkpoint);
  }
  const json saved = json::parse(checkpoint->state);
  if (saved.at("world") != state_->bundle.world.version().hex())
    throw CheckpointError("was made with another world model", setup_.folder.checkpoints().string(),
                          "resume with the file it was started with");
  state_->version = 1 + saved.at("updates").get<std::uint64_t>();
  state_->seconds_before = saved.at("seconds");
  state_->curves.restore(saved.at("job_curves"));
  state_->refused_bundles = saved.at("refused_bundles");
  state_->trainer->restore_counts(saved.at("counts"), {saved.at("ratio_error_lag0"), saved.at("lag0_steps")});
  state_->trainer->restore(checkpoint->parts.at("controller"));
  if (state_->dyna) state_->dyna->restore(checkpoint->parts.at("dyna"));
  // A generation of an evolution that was not whole is measured again.
  state_->plan.move_to(state_->tickets.deterministic
                           ? (state_->version - 1) * state_->tickets.episodes_per_update
                           : saved.at("tickets").get<std::uint64_t>());
  roll_back(state_->ledger, checkpoint);
  state_->events.restart(static_cast<std::int64_t>(state_->version));
  log_info("resumed at update {}", checkpoint->number);
}

DreamPhaseSummary DreamPhase::summary() const {
  const DreamCounts& counts = state_->trainer->counts();
  DreamPhaseSummary result;
  result.updates = state_->version - 1;
  result.dreamed_episodes = counts.dreamed().episodes;
  result.real_episodes = counts.real().episodes;
  result.dreamed_steps = counts.dreamed().steps;
  result.real_steps = counts.real().steps;
  result.seconds = seconds();
  result.dreamed_return = counts.dreamed().mean_return();
  result.real_return = counts.real().mean_return();
  result.first_dreamed_return = counts.dreamed().first_return;
  result.lag0 = state_->trainer->lag0();
  result.refused_bundles = state_->refused_bundles;
  if (state_->dyna) {
    result.paused_updates = state_->dyna->paused_updates();
    result.branch_steps = state_->dyna->branch_steps();
  }
  result.steps_per_s =
      static_cast<double>(state_->steps_here) / std::max(seconds() - state_->seconds_before, 1e-9);
  return result;
}

}  // namespace regraft::learner
