#include "learner/ppo/learner.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/base/tensorboard.h"
#include "core/nn/device.h"
#include "core/nn/policy_file.h"
#include "core/wire/hub.h"
#include "learner/job/checkpoint.h"
#include "learner/job/hub_setup.h"
#include "learner/job/job_curves.h"
#include "learner/job/ticket_plan.h"
#include "learner/ppo/batcher.h"
#include "learner/ppo/best_episodes.h"
#include "learner/ppo/episode_statistics.h"
#include "learner/ppo/intake.h"
#include "learner/ppo/lag0_check.h"
#include "learner/ppo/ppo.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr char kPhase[] = "ppo";
constexpr std::chrono::milliseconds kPatience{200};  // for an episode, before looking whether to stop
constexpr double kNsPerS = 1e9;
constexpr double kAnnealedAway = 0.9;  // of learning rate and entropy bonus, at the end of the run

nn::NetworkConfig network_of(const LearnerSetup& setup) {
  return network_config(setup.network, setup.op_kind_names.size(), setup.rule_names.size());
}

void write_ppo_curves(EventWriter& events, std::int64_t update, const PpoMetrics& metrics) {
  const std::pair<const char*, double> curves[] = {
      {"policy_loss", metrics.policy_loss},
      {"value_loss", metrics.value_loss},
      {"entropy", metrics.entropy},
      {"approx_kl", metrics.approx_kl},
      {"clip_fraction", metrics.clip_fraction},
      {"explained_variance", metrics.explained_variance},
      {"gradient_norm", metrics.gradient_norm},
      {"truncated_fraction", metrics.truncated_fraction},
      {"imitated_steps", static_cast<double>(metrics.imitated_steps)},
      {"lag0_steps", static_cast<double>(metrics.lag0_steps)},
      {"lag0_ratio_max", metrics.lag0_ratio_max},
      {"lag0_ratio_p999", metrics.lag0_ratio_p999}};
  for (const auto& [name, value] : curves) events.scalar(std::string("ppo/") + name, update, value);
}

}  // namespace

/// Everything that lives while the job runs, in the order in which it is made; what stands later uses what
/// stands before.
struct Learner::State {
  State(const LearnerSetup& setup, const Clock& clock)
      : network(network_of(setup)),
        ledger(setup.folder.journal(), run_id_of(setup.folder)),
        plan({setup.options.seed, static_cast<std::uint32_t>(setup.model_names.size()),
              replay::kMaxSegmentSteps, setup.options.deterministic, setup.options.episodes_per_update},
             published),
        batcher(
            {setup.options.steps_per_update, setup.options.deterministic, setup.options.episodes_per_update}),
        statistics(setup.model_names),
        best(static_cast<std::size_t>(setup.ppo.imitated_episodes)),
        ppo(network, nn::initial_weights(network, setup.options.seed), setup.rule_features, setup.ppo,
            setup.options.device, setup.options.seed),
        lag0(setup.options.deterministic, nn::resolve_device(setup.options.device)),
        store(setup.folder.checkpoints(), setup.options.checkpoints_kept),
        events(setup.folder.events(), clock),
        curves(clock),
        progress({.label = "training",
                  .unit = "updates",
                  .total = setup.options.updates,
                  .terminal = is_terminal(2)},
                 clock, std::cerr) {}

  nn::NetworkConfig network;
  std::atomic<std::uint64_t> version{1};    // of the weights: 1 + updates
  std::atomic<std::uint64_t> published{0};  // what tickets ask for
  wire::Ledger ledger;
  TicketPlan plan;
  Batcher batcher;
  EpisodeStatistics statistics;
  BestEpisodes best;  // empty unless they are imitated
  Ppo ppo;
  Lag0Check lag0;
  CheckpointStore store;
  EventWriter events;
  JobCurves curves;
  Progress progress;
  std::vector<Episode> restored;
  std::unique_ptr<wire::Hub> hub;
  std::unique_ptr<Intake> intake;

  std::uint64_t episodes = 0, steps = 0, costed = 0, steps_here = 0;
  std::uint64_t played_before = 0;  // steps that actors sent to earlier generations
  double seconds_before = 0;        // of earlier generations
  std::int64_t started_ns = 0, saved_ns = 0;
};

Learner::Learner(LearnerSetup setup, const Clock& clock)
    : setup_(std::move(setup)), clock_(clock), state_(std::make_unique<State>(setup_, clock)) {
  restore();
  state_->hub = std::make_unique<wire::Hub>(
      hub_options(setup_.folder, setup_.options, state_->ledger.run_id()), state_->ledger,
      [plan = &state_->plan](const wire::ActorInfo&) { return plan->next(); }, clock_);
  publish(state_->version);
  state_->intake =
      std::make_unique<Intake>(*state_->hub, state_->ledger, state_->version,
                               Intake::Options{.staleness_budget = setup_.options.staleness,
                                               .queued_steps = setup_.options.steps_per_update,
                                               .queued_episodes = setup_.options.episodes_per_update,
                                               .hierarchical = state_->network.head == nn::Head::hierarchical,
                                               .everywhere = state_->network.everywhere,
                                               .reject_is_fatal = setup_.options.deterministic});
  state_->intake->restore(std::move(state_->restored));
  state_->hub->run_info().save(setup_.folder.run_file());
  state_->started_ns = state_->saved_ns = clock_.steady_ns();
}

Learner::~Learner() = default;

std::uint64_t Learner::generation() const {
  return state_->ledger.generation();
}

double Learner::seconds() const {
  return state_->seconds_before + static_cast<double>(clock_.steady_ns() - state_->started_ns) / kNsPerS;
}

/// Share of the run that is done, by the limit that is nearer; 0 without one. In deterministic mode by
/// updates alone.
double Learner::done_share() const {
  const LearnerOptions& options = setup_.options;
  double share = 0;
  if (options.updates > 0)
    share = static_cast<double>(state_->version - 1) / static_cast<double>(options.updates);
  if (options.minutes > 0 && !options.deterministic)
    share = std::max(share, seconds() / (options.minutes * 60));
  return std::min(share, 1.0);
}

bool Learner::limit_reached() const {
  const LearnerOptions& options = setup_.options;
  const std::uint64_t updates = state_->version - 1;
  return (options.updates > 0 && updates >= options.updates) ||
         (options.minutes > 0 && seconds() >= options.minutes * 60);
}

LearnerSummary Learner::run(const std::stop_token& stopped) {
  while (!stopped.stop_requested() && !limit_reached()) {
    gather(stopped);
    if (state_->batcher.ready(state_->version - 1)) update();
    const double since_save = static_cast<double>(clock_.steady_ns() - state_->saved_ns) / kNsPerS;
    if (save_requested_.exchange(false) || since_save >= setup_.options.checkpoint_minutes * 60) checkpoint();
    if (setup_.show_progress) report_progress();
  }
  state_->hub->stop_issuing();
  checkpoint();
  export_policy(setup_.folder.latest_policy());
  LearnerSummary result = summary();
  state_->intake.reset();
  state_->hub->stop();
  state_->events.flush();
  result.books = state_->ledger.books();
  if (setup_.show_progress) state_->progress.finish();
  write_file_atomic(setup_.folder.summary(), result.to_json(setup_.model_names));
  return result;
}

/// Takes episodes until a batch is ready, something else is due, or none came for a while.
void Learner::gather(const std::stop_token& stopped) {
  while (!state_->batcher.ready(state_->version - 1) && !stopped.stop_requested() && !save_requested_) {
    auto episode = state_->intake->next(kPatience);
    if (!episode) return;
    state_->batcher.add(std::move(*episode));
  }
}

void Learner::update() {
  const std::uint64_t version = state_->version;
  std::vector<Episode> batch = state_->batcher.take(version - 1, version, setup_.options.staleness);
  if (batch.empty()) return;
  state_->statistics.add(batch, version);
  state_->episodes += batch.size();
  for (const Episode& episode : batch) {
    state_->steps += episode.step_count();
    state_->costed += episode.end().episode_costed;
    if (setup_.ppo.imitation > 0) state_->best.look(episode);
  }
  Rng rng(setup_.options.seed, "learner/trained share " + std::to_string(version));
  std::vector<replay::Segment> segments;
  for (const std::size_t i : draw_episodes(batch, setup_.options.trained_share, rng)) {
    for (replay::Segment& segment : batch[i].segments) {
      segment.weight_version -= 1;  // on the wire 0 means none; to PPO it means fresh weights
      state_->steps_here += segment.steps.size();
      segments.push_back(std::move(segment));
    }
  }
  if (setup_.options.anneal) state_->ppo.anneal(1 - kAnnealedAway * done_share());
  const PpoMetrics metrics = state_->ppo.update(segments, state_->best.segments());
  state_->lag0.add(metrics);
  publish(version + 1);
  state_->hub->wake();
  write_curves(metrics);
  if (setup_.options.export_every > 0 && version % setup_.options.export_every == 0)
    export_policy(setup_.folder.policies() / ("update-" + std::to_string(version) + ".policy"));
}

void Learner::publish(std::uint64_t version) {
  state_->hub->publish(version, nn::encode_weights(state_->ppo.weights()));
  state_->version = version;
  state_->published = version;  // tickets ask for it only from now on
}

void Learner::write_curves(const PpoMetrics& metrics) {
  const auto update = static_cast<std::int64_t>(state_->version - 1);
  EventWriter& events = state_->events;
  write_ppo_curves(events, update, metrics);
  state_->statistics.write(events, update);
  const IntakeCounts intake = state_->intake->counts();
  events.scalar("train/steps", update, static_cast<double>(state_->steps));
  events.scalar("train/candidates", update, static_cast<double>(state_->costed));
  events.scalar("train/episodes", update, static_cast<double>(state_->episodes));
  events.scalar("train/expired", update, static_cast<double>(state_->batcher.expired()));
  events.scalar("wire/payload_bytes", update, static_cast<double>(intake.payload_bytes));
  events.scalar("wire/malformed", update, static_cast<double>(intake.malformed));
  events.scalar("wire/other_head", update, static_cast<double>(intake.other_head));
  events.scalar("queue/intake_episodes", update, static_cast<double>(intake.queued_episodes));
  events.scalar("queue/intake_steps", update, static_cast<double>(intake.queued_steps));
  events.scalar("queue/batch_episodes", update, static_cast<double>(state_->batcher.pending_episodes()));
  state_->curves.write(events, update, *state_->hub, state_->ledger);
  events.flush();
}

std::uint64_t Learner::played_steps() const {
  return state_->played_before + state_->intake->counts().played_steps;
}

void Learner::report_progress() {
  char note[160];
  std::snprintf(note, sizeof note, "return %.4f, best cost %.4f, %llu episodes, %zu actors",
                state_->statistics.mean_return(), state_->statistics.best_cost_ratio(0),
                static_cast<unsigned long long>(state_->episodes), state_->hub->status().actors.size());
  state_->progress.update(state_->version - 1, note);
}

void Learner::checkpoint() {
  const Intake::Snapshot intake = state_->intake->snapshot();
  std::vector<Episode> untrained = state_->batcher.pending();
  untrained.insert(untrained.end(), intake.queued.begin(), intake.queued.end());
  Checkpoint checkpoint;
  checkpoint.number = state_->version - 1;
  checkpoint.parts["ppo"] = state_->ppo.save();
  if (state_->best.size() > 0) checkpoint.parts["best_episodes"] = state_->best.save();
  checkpoint.parts["episodes"] = encode_episodes(untrained);
  json own = checkpoint_state(kPhase, setup_.config_toml, intake.mark);
  own.update({{"updates", state_->version - 1},
              {"episodes", state_->episodes},
              {"steps", state_->steps},
              {"played_steps", played_steps()},
              {"candidates", state_->costed},
              {"seconds", seconds()},
              {"tickets", state_->plan.position()},
              {"statistics", state_->statistics.save()},
              {"job_curves", state_->curves.save()},
              {"ratio_error_lag0", state_->lag0.record().ratio_error},
              {"lag0_steps", state_->lag0.record().steps}});
  checkpoint.state = own.dump();
  state_->store.save(checkpoint);
  state_->saved_ns = clock_.steady_ns();
}

void Learner::restore() {
  const auto checkpoint = state_->store.resume(kPhase);
  if (!checkpoint) {
    if (generation() > 1) state_->events.restart(1);
    return roll_back(state_->ledger, checkpoint);
  }
  const json saved = json::parse(checkpoint->state);
  state_->version = 1 + saved.at("updates").get<std::uint64_t>();
  state_->episodes = saved.at("episodes");
  state_->steps = saved.at("steps");
  state_->played_before = saved.value("played_steps", state_->steps);  // older ones have none
  state_->costed = saved.at("candidates");
  state_->seconds_before = saved.at("seconds");
  state_->statistics.restore(saved.at("statistics"));
  state_->curves.restore(saved.at("job_curves"));
  state_->lag0.restore({saved.at("ratio_error_lag0"), saved.at("lag0_steps")});
  state_->ppo.restore(checkpoint->parts.at("ppo"));
  const auto best = checkpoint->parts.find("best_episodes");
  if (setup_.ppo.imitation > 0 && best != checkpoint->parts.end()) state_->best.restore(best->second);
  state_->restored = decode_episodes(checkpoint->parts.at("episodes"));
  // In deterministic mode every ticket of the interrupted update that is not in the checkpoint is issued
  // again.
  const std::uint64_t first = (state_->version - 1) * setup_.options.episodes_per_update;
  if (setup_.options.deterministic) state_->restored.clear();
  state_->plan.move_to(setup_.options.deterministic ? first : saved.at("tickets").get<std::uint64_t>());
  roll_back(state_->ledger, checkpoint);
  state_->events.restart(static_cast<std::int64_t>(state_->version));
  log_info("resumed at update {}", checkpoint->number);
}

void Learner::export_policy(const std::filesystem::path& path) const {
  nn::PolicyFile policy;
  policy.network = state_->network;
  policy.observation_schema = env::kObservationSchema;
  policy.op_kinds = setup_.op_kind_names;
  policy.rule_set_hash = setup_.rule_set_hash;
  policy.rule_names = setup_.rule_names;
  policy.limits = setup_.limits;
  policy.weights = state_->ppo.weights();
  policy.training_record = json{
      {"models", setup_.model_names},
      {"updates", state_->version - 1},
      {"episodes", state_->episodes},
      {"steps", state_->steps},
      {"candidates", state_->costed},
      {"seconds", seconds()},
      {"mean_return", state_->statistics.mean_return()},
      {"config",
       setup_.config_toml}}.dump();
  std::filesystem::create_directories(path.parent_path());
  nn::save_policy(policy, path);
}

LearnerSummary Learner::summary() const {
  LearnerSummary result;
  result.updates = state_->version - 1;
  result.episodes = state_->episodes;
  result.steps = state_->steps;
  result.played_steps = played_steps();
  result.seconds = seconds();
  result.mean_return = state_->statistics.mean_return();
  for (std::size_t model = 0; model < setup_.model_names.size(); ++model)
    result.best_cost_ratio.push_back(state_->statistics.best_cost_ratio(model));
  result.trained_twice = state_->batcher.trained_twice();
  result.expired = state_->batcher.expired();
  result.lag0 = state_->lag0.record();
  const double here = std::max(seconds() - state_->seconds_before, 1e-9);
  std::uint64_t cpu_ns = wire::process_cpu_ns(), wire_ns = state_->hub->counters().cpu_ns;
  for (const wire::ActorStatus& actor : state_->hub->status().actors) {
    cpu_ns += actor.process_cpu_ns;
    wire_ns += actor.wire_cpu_ns;
  }
  const IntakeCounts intake = state_->intake->counts();
  result.policy_steps_per_s = static_cast<double>(intake.played_steps) / here;
  result.samples_per_s = static_cast<double>(state_->steps_here) / here;
  result.payload_bytes_per_s = static_cast<double>(intake.payload_bytes) / here;
  result.transport_cpu_share =
      static_cast<double>(wire_ns) / static_cast<double>(std::max<std::uint64_t>(cpu_ns, 1));
  return result;
}

}  // namespace regraft::learner
