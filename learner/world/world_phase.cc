#include "learner/world/world_phase.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/nn/world_bundle.h"
#include "core/wire/hub.h"
#include "learner/job/checkpoint.h"
#include "learner/job/hub_setup.h"
#include "learner/job/ticket_plan.h"
#include "learner/ppo/learner.h"
#include "learner/world/world_curves.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr char kPhase[] = "world-model";
constexpr std::chrono::milliseconds kPatience{200};  // for a delivery, before looking whether to stop
constexpr double kNsPerS = 1e9;

constexpr std::uint64_t kRound = 16;  // tickets, in deterministic mode

replay::Rollout rollout_of(const wire::Delivery& delivery) {
  if (delivery.parts.size() != 1 || delivery.parts.front().frames.size() != 1)
    throw replay::ReplayError("is not one action log", "result", "");
  replay::Rollout rollout = replay::decode_rollout(delivery.parts.front().frames.front().bytes());
  const wire::Ticket& ticket = delivery.ticket;
  if (rollout.model != ticket.model || rollout.seed != ticket.seed || rollout.sequence != ticket.sequence)
    throw replay::ReplayError("is of another ticket", "result", "");
  return rollout;
}

replay::SequenceReplay::Options replay_options(const WorldPhaseSetup& setup) {
  replay::SequenceReplay::Options options;
  options.memory_bytes = setup.world.replay_mib << 20;
  if (setup.world.spill) {
    const WorldFolder folder(setup.folder);
    std::filesystem::create_directories(folder.root);
    options.spill = folder.spill();
  }
  return options;
}

ProgressOptions progress_options(const char* label, const char* unit, std::uint64_t total) {
  return {.label = label, .unit = unit, .total = total, .terminal = is_terminal(2)};
}

}  // namespace

void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted) {
  if (replay.forgotten() == 0 || replay.steps() >= wanted) return;
  throw UsageError("there is room for " + std::to_string(replay.steps()) + " of the " +
                       std::to_string(wanted) + " steps that world.collect_steps asks for",
                   "world.replay_mib", "raise it, set world.spill, or collect fewer steps");
}

struct WorldPhase::State {
  State(const WorldPhaseSetup& setup, const Clock& clock)
      : ledger(setup.folder.journal(), run_id_of(setup.folder)),
        plan({setup.options.seed, static_cast<std::uint32_t>(setup.models.size()), 0,
              setup.options.deterministic, kRound, false},
             version),
        replay(replay_options(setup)),
        store(setup.folder.checkpoints(), setup.options.checkpoints_kept),
        curves(setup.folder, ledger.generation() > 1, clock) {}

  std::atomic<std::uint64_t> version{1};  // deterministic mode: 1 + rounds that are whole
  wire::Ledger ledger;
  TicketPlan plan;
  replay::SequenceReplay replay;
  CheckpointStore store;
  WorldCurves curves;
  std::optional<Progress> progress;
  std::unique_ptr<wire::Hub> hub;
  std::map<std::uint64_t, replay::Rollout> round;  // deterministic mode: of the round under way
  wire::JournalMark round_mark;                    // deterministic mode: when the last one was whole
  bool complete = false;                           // the replay is, and in its final order
  replay::Bytes saved_fit;
  std::unique_ptr<WorldFit> fit;
  std::uint64_t saves = 0;
  double collect_seconds = 0, replay_seconds = 0, fit_seconds = 0;
  std::int64_t saved_ns = 0;
};

WorldPhase::WorldPhase(WorldPhaseSetup setup, const Clock& clock)
    : setup_(std::move(setup)), clock_(clock), state_(std::make_unique<State>(setup_, clock)) {
  restore();
  state_->hub = std::make_unique<wire::Hub>(
      hub_options(setup_.folder, setup_.options, state_->ledger.run_id()), state_->ledger,
      [plan = &state_->plan](const wire::ActorInfo&) { return plan->next(); }, clock_);
  state_->round_mark = state_->ledger.mark();
  if (collected()) state_->hub->stop_issuing();
  state_->hub->run_info().save(setup_.folder.run_file());
  state_->saved_ns = clock_.steady_ns();
}

WorldPhase::~WorldPhase() = default;

std::uint64_t WorldPhase::generation() const {
  return state_->ledger.generation();
}

double WorldPhase::seconds_since(std::int64_t start_ns) const {
  return static_cast<double>(clock_.steady_ns() - start_ns) / kNsPerS;
}

bool WorldPhase::collected() const {
  return state_->complete || state_->replay.steps() >= setup_.world.collect_steps;
}

/// In deterministic mode by whole rounds, so that the replay does not depend on who was faster, and a
/// checkpoint holds all that was admitted before its mark.
void WorldPhase::take_in(replay::Rollout rollout) {
  if (!setup_.options.deterministic) {
    state_->replay.add(rollout);
    return require_room(state_->replay, setup_.world.collect_steps);
  }
  const std::uint64_t sequence = rollout.sequence;
  state_->round.emplace(sequence, std::move(rollout));
  if (state_->round.size() < kRound) return;
  for (const auto& [place, episode] : state_->round) state_->replay.add(episode);
  state_->round.clear();
  require_room(state_->replay, setup_.world.collect_steps);
  state_->round_mark = state_->ledger.mark();
  if (collected()) return;
  ++state_->version;
  state_->hub->wake();
}

wire::JournalMark WorldPhase::mark() {
  return setup_.options.deterministic ? state_->round_mark : state_->ledger.mark();
}

void WorldPhase::collect(const std::stop_token& stopped) {
  const std::int64_t start_ns = clock_.steady_ns();
  const double before = state_->collect_seconds;
  state_->progress.emplace(progress_options("collecting", "steps", setup_.world.collect_steps), clock_,
                           std::cerr);
  while (!stopped.stop_requested() && !collected()) {
    if (const auto delivery = state_->hub->take(kPatience)) {
      std::optional<replay::Rollout> rollout;
      try {
        rollout = rollout_of(*delivery);
      } catch (const replay::ReplayError& error) {
        log_warning("ticket {} of {}: rejected: {}", delivery->ticket.id, delivery->actor.name, error.what());
        if (setup_.options.deterministic) throw;
      }
      const auto verdict = rollout ? wire::Disposition::kAdmitted : wire::Disposition::kRejected;
      if (state_->hub->decide(delivery->ticket, verdict) == wire::Disposition::kAdmitted && rollout) {
        state_->curves.add(*rollout);
        take_in(std::move(*rollout));
      }
    }
    state_->curves.write_collected(state_->replay.steps(), state_->replay.size(),
                                   collected() || stopped.stop_requested(), *state_->hub, state_->ledger);
    state_->collect_seconds = before + seconds_since(start_ns);
    if (setup_.show_progress)
      state_->progress->update(std::min(state_->replay.steps(), setup_.world.collect_steps),
                               std::to_string(state_->replay.size()) + " episodes");
    checkpoint_when_due();
  }
  if (!collected() || state_->complete) return;
  state_->hub->stop_issuing();
  state_->replay.sort_by_sequence();
  state_->complete = true;
  checkpoint();
}

void WorldPhase::fit(const std::stop_token& stopped) {
  const std::int64_t start_ns = clock_.steady_ns();
  state_->fit =
      std::make_unique<WorldFit>(setup_.context, state_->replay, setup_.world, setup_.environment_of);
  if (!state_->saved_fit.empty()) state_->fit->restore(state_->saved_fit);
  log_info("fitting from update {} on", state_->fit->updates_done());
  state_->replay_seconds += seconds_since(start_ns);
  std::int64_t last_ns = clock_.steady_ns();
  state_->progress.emplace(progress_options("fitting", "updates", state_->fit->updates_in_all()), clock_,
                           std::cerr);
  bool more = state_->fit->stage() != WorldFit::Stage::done;
  while (more && !stopped.stop_requested()) {
    more = state_->fit->advance();
    state_->curves.write_fit(*state_->fit, state_->replay.steps(), *state_->hub, state_->ledger);
    const std::int64_t now_ns = clock_.steady_ns();
    state_->fit_seconds += static_cast<double>(now_ns - last_ns) / kNsPerS;
    last_ns = now_ns;
    if (setup_.show_progress) state_->progress->update(state_->fit->updates_done(), state_->fit->status());
    checkpoint_when_due();
  }
}

WorldPhaseSummary WorldPhase::run(const std::stop_token& stopped) {
  collect(stopped);
  if (collected() && !setup_.collect_only) fit(stopped);
  checkpoint();
  WorldPhaseSummary summary;
  summary.episodes = state_->replay.size();
  summary.steps = state_->replay.steps();
  summary.collect_seconds = state_->collect_seconds;
  summary.replay_seconds = state_->replay_seconds;
  summary.fit_seconds = state_->fit_seconds;
  const bool fitted = state_->fit && state_->fit->stage() == WorldFit::Stage::done;
  summary.finished = collected() && (setup_.collect_only || fitted);
  if (state_->fit) {
    summary.fit = state_->fit->status();
    summary.lost_episodes = state_->fit->lost_episodes();
  }
  if (summary.finished) write_results(state_->fit.get());
  state_->hub->stop();
  if (setup_.show_progress && state_->progress) state_->progress->finish();
  summary.books = state_->ledger.books();
  write_file_atomic(setup_.folder.summary(), summary.to_json());
  return summary;
}

void WorldPhase::write_results(const WorldFit* fit) const {
  const WorldFolder folder(setup_.folder);
  std::filesystem::create_directories(folder.root);
  replay::RolloutFile file;
  file.rule_set_hash = setup_.context.rule_set_hash;
  file.models = setup_.models;
  file.record = json{{"noop", setup_.world.noop},
                     {"everywhere", setup_.context.everywhere},
                     {"config", setup_.config_toml}}
                    .dump();
  for (std::size_t i = 0; i < state_->replay.size(); ++i) file.rollouts.push_back(state_->replay.at(i));
  replay::save_rollouts(file, folder.rollouts());
  if (fit == nullptr) return;
  fit->write_figures(folder.root);
  nn::save_bundle({fit->world(), {}, {}, {}}, folder.model());
}

void WorldPhase::checkpoint_when_due() {
  if (save_requested_.exchange(false) ||
      seconds_since(state_->saved_ns) >= setup_.options.checkpoint_minutes * 60)
    checkpoint();
}

void WorldPhase::checkpoint() {
  Checkpoint checkpoint;
  checkpoint.number = ++state_->saves;
  checkpoint.parts["replay"] = state_->replay.save();
  checkpoint.parts["fit"] = state_->fit ? state_->fit->save() : state_->saved_fit;
  json own = checkpoint_state(kPhase, setup_.config_toml, mark());
  own.update({{"complete", state_->complete},
              {"tickets", state_->plan.position()},
              {"rounds", state_->version - 1},
              {"collect_seconds", state_->collect_seconds},
              {"replay_seconds", state_->replay_seconds},
              {"fit_seconds", state_->fit_seconds},
              {"job_curves", state_->curves.save()}});
  checkpoint.state = own.dump();
  state_->store.save(checkpoint);
  state_->saved_ns = clock_.steady_ns();
}

/// Rollouts of an earlier run come first; tickets go on behind theirs, so that none is played again.
void WorldPhase::take_earlier() {
  const replay::RolloutFile file = replay::load_rollouts(setup_.world.rollouts);
  if (file.rule_set_hash != setup_.context.rule_set_hash || file.models != setup_.models)
    throw UsageError("these rollouts are of other rules or models", setup_.world.rollouts,
                     "give those that were collected with the job's");
  if (json::parse(file.record).value("everywhere", false) != setup_.context.everywhere)
    throw UsageError("these rollouts were played with another workload.everywhere", setup_.world.rollouts,
                     "give it as it was there");
  std::uint64_t rounds = 0;
  for (const replay::Rollout& rollout : file.rollouts) {
    state_->replay.add(rollout);
    rounds = std::max(rounds, rollout.sequence / kRound + 1);
  }
  state_->version = 1 + rounds;
  state_->plan.move_to(rounds * kRound);
  log_info("{} earlier rollouts, {} steps", state_->replay.size(), state_->replay.steps());
}

void WorldPhase::restore() {
  const auto checkpoint = state_->store.resume(kPhase);
  if (!checkpoint) {
    if (!setup_.world.rollouts.empty()) take_earlier();
    return roll_back(state_->ledger, checkpoint);
  }
  const json saved = json::parse(checkpoint->state);
  state_->saves = checkpoint->number;
  state_->complete = saved.at("complete");
  state_->version = 1 + saved.at("rounds").get<std::uint64_t>();
  state_->collect_seconds = saved.at("collect_seconds");
  state_->replay_seconds = saved.at("replay_seconds");
  state_->fit_seconds = saved.at("fit_seconds");
  state_->curves.restore(saved.at("job_curves"));
  state_->replay.restore(checkpoint->parts.at("replay"));
  state_->saved_fit = checkpoint->parts.at("fit");
  // In deterministic mode a round that is not whole is played again: the same seeds give the same episodes.
  state_->plan.move_to(setup_.options.deterministic ? (state_->version - 1) * kRound
                                                    : saved.at("tickets").get<std::uint64_t>());
  roll_back(state_->ledger, checkpoint);
  log_info("resumed with {} episodes", state_->replay.size());
}

std::string WorldPhaseSummary::text() const {
  char line[512];
  std::snprintf(line, sizeof line,
                "%s: %llu episodes (%llu steps) collected in %.1f s, replayed in %.1f s, fitted in %.1f s\n",
                finished ? "done" : "stopped", static_cast<unsigned long long>(episodes),
                static_cast<unsigned long long>(steps), collect_seconds, replay_seconds, fit_seconds);
  if (lost_episodes > 0)
    std::snprintf(line + std::strlen(line), sizeof line - std::strlen(line),
                  "%llu episodes could not be replayed and were left out\n",
                  static_cast<unsigned long long>(lost_episodes));
  return line + (fit.empty() ? "" : "  " + fit + "\n") + books.table();
}

std::string WorldPhaseSummary::to_json() const {
  return json{{"phase", "world-model"},
              {"finished", finished},
              {"episodes", episodes},
              {"steps", steps},
              {"lost_episodes", lost_episodes},
              {"retained", books.total().retained},
              {"collect_seconds", collect_seconds},
              {"replay_seconds", replay_seconds},
              {"fit_seconds", fit_seconds},
              {"books_balance", books.check().empty()}}
             .dump(2) +
         "\n";
}

}  // namespace regraft::learner
