#include "learner/world_phase.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "core/nn/world_bundle.h"
#include "core/wire/hub.h"
#include "learner/checkpoint.h"
#include "learner/hub_setup.h"
#include "learner/learner.h"
#include "learner/ticket_plan.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPatience{200};  // for a delivery, before looking whether to stop
constexpr double kNsPerS = 1e9;

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

struct WorldPhase::State {
  explicit State(const WorldPhaseSetup& setup)
      : ledger(setup.folder.journal(), run_id_of(setup.folder)),
        plan({setup.options.seed, static_cast<std::uint32_t>(setup.models.size()), 0, false, 1}, version),
        replay(replay_options(setup)),
        store(setup.folder.checkpoints(), setup.options.checkpoints_kept) {}

  std::atomic<std::uint64_t> version{0};  // no weights are needed to collect
  wire::Ledger ledger;
  TicketPlan plan;
  replay::SequenceReplay replay;
  CheckpointStore store;
  std::optional<Progress> progress;
  std::unique_ptr<wire::Hub> hub;
  std::map<std::uint64_t, replay::Rollout> early;  // deterministic mode: before their turn
  std::uint64_t next_sequence = 0;                 // deterministic mode: whose turn it is
  bool complete = false;                           // the replay is, and in its final order
  replay::Bytes saved_fit;
  std::unique_ptr<WorldFit> fit;
  std::uint64_t saves = 0;
  double collect_seconds = 0, replay_seconds = 0, fit_seconds = 0;
  std::int64_t saved_ns = 0;
};

WorldPhase::WorldPhase(WorldPhaseSetup setup, const Clock& clock)
    : setup_(std::move(setup)), clock_(clock), state_(std::make_unique<State>(setup_)) {
  restore();
  state_->hub = std::make_unique<wire::Hub>(
      hub_options(setup_.folder, setup_.options, state_->ledger.run_id()), state_->ledger,
      [plan = &state_->plan](const wire::ActorInfo&) { return plan->next(); }, clock_);
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

/// In deterministic mode by ticket, so that the replay does not depend on who was faster.
void WorldPhase::take_in(replay::Rollout rollout) {
  if (!setup_.options.deterministic) {
    state_->replay.add(rollout);
    return;
  }
  const std::uint64_t sequence = rollout.sequence;
  state_->early.emplace(sequence, std::move(rollout));
  while (!collected() && !state_->early.empty() && state_->early.begin()->first == state_->next_sequence) {
    state_->replay.add(state_->early.begin()->second);
    state_->early.erase(state_->early.begin());
    ++state_->next_sequence;
  }
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
      if (state_->hub->decide(delivery->ticket, verdict) == wire::Disposition::kAdmitted && rollout)
        take_in(std::move(*rollout));
    }
    state_->collect_seconds = before + seconds_since(start_ns);
    if (setup_.show_progress)
      state_->progress->update(std::min(state_->replay.steps(), setup_.world.collect_steps),
                               std::to_string(state_->replay.size()) + " episodes");
    checkpoint_when_due();
  }
  if (!collected() || state_->complete) return;
  state_->hub->stop_issuing();
  state_->replay.sort_by_sequence();
  state_->early.clear();
  state_->complete = true;
  checkpoint();
}

void WorldPhase::fit(const std::stop_token& stopped) {
  const std::int64_t start_ns = clock_.steady_ns();
  state_->fit =
      std::make_unique<WorldFit>(setup_.context, state_->replay, setup_.world, setup_.environment_of);
  if (!state_->saved_fit.empty()) state_->fit->restore(state_->saved_fit);
  state_->replay_seconds += seconds_since(start_ns);
  std::int64_t last_ns = clock_.steady_ns();
  state_->progress.emplace(progress_options("fitting", "updates", state_->fit->updates_in_all()), clock_,
                           std::cerr);
  bool more = state_->fit->stage() != WorldFit::Stage::done;
  while (more && !stopped.stop_requested()) {
    more = state_->fit->advance();
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
  if (state_->fit) summary.fit = state_->fit->status();
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
  file.record = json{{"noop", setup_.world.noop}, {"config", setup_.config_toml}}.dump();
  for (std::size_t i = 0; i < state_->replay.size(); ++i) file.rollouts.push_back(state_->replay.at(i));
  replay::save_rollouts(file, folder.rollouts());
  if (fit == nullptr) return;
  fit->write_figures(folder.root);
  nn::save_bundle({fit->world(), {}, {}}, folder.model());
}

void WorldPhase::checkpoint_when_due() {
  if (save_requested_.exchange(false) ||
      seconds_since(state_->saved_ns) >= setup_.options.checkpoint_minutes * 60)
    checkpoint();
}

void WorldPhase::checkpoint() {
  Checkpoint checkpoint;
  checkpoint.number = ++state_->saves;
  const wire::JournalMark mark = state_->ledger.mark();
  checkpoint.parts["replay"] = state_->replay.save();
  checkpoint.parts["fit"] = state_->fit ? state_->fit->save() : state_->saved_fit;
  checkpoint.state = json{{"phase", "world-model"},
                          {"config", setup_.config_toml},
                          {"run_id", mark.run_id},
                          {"generation", mark.generation},
                          {"journal_offset", mark.offset},
                          {"complete", state_->complete},
                          {"tickets", state_->plan.position()},
                          {"next_sequence", state_->next_sequence},
                          {"collect_seconds", state_->collect_seconds},
                          {"replay_seconds", state_->replay_seconds},
                          {"fit_seconds", state_->fit_seconds}}
                         .dump();
  state_->store.save(checkpoint);
  state_->saved_ns = clock_.steady_ns();
}

void WorldPhase::restore() {
  std::vector<std::string> problems;
  const auto checkpoint = state_->store.load_newest(problems);
  for (const std::string& problem : problems) log_warning("checkpoint skipped: {}", problem);
  if (!checkpoint && !problems.empty())
    throw CheckpointError("none of the run's checkpoints can be read: " + problems.front(),
                          setup_.folder.checkpoints().string(), "repair or remove them");
  if (!checkpoint) {
    if (state_->ledger.generation() > 1) state_->ledger.roll_back({state_->ledger.run_id(), 0, 0});
    return;
  }
  const json saved = json::parse(checkpoint->state);
  if (saved.value("phase", "") != "world-model")
    throw CheckpointError("is of another phase", state_->store.path_of(checkpoint->number).string(),
                          "use another run folder");
  state_->saves = checkpoint->number;
  state_->complete = saved.at("complete");
  state_->next_sequence = saved.at("next_sequence");
  state_->collect_seconds = saved.at("collect_seconds");
  state_->replay_seconds = saved.at("replay_seconds");
  state_->fit_seconds = saved.at("fit_seconds");
  state_->replay.restore(checkpoint->parts.at("replay"));
  state_->saved_fit = checkpoint->parts.at("fit");
  if (setup_.options.deterministic) {
    // What is not in order yet is played again: the same seeds give the same episodes.
    state_->plan.move_to(state_->next_sequence);
  } else {
    state_->plan.move_to(saved.at("tickets").get<std::uint64_t>());
  }
  state_->ledger.roll_back({saved.at("run_id"), saved.at("generation"), saved.at("journal_offset")});
  log_info("resumed with {} episodes", state_->replay.size());
}

std::string WorldPhaseSummary::text() const {
  char line[512];
  std::snprintf(line, sizeof line,
                "%s: %llu episodes (%llu steps) collected in %.1f s, replayed in %.1f s, fitted in %.1f s\n",
                finished ? "done" : "stopped", static_cast<unsigned long long>(episodes),
                static_cast<unsigned long long>(steps), collect_seconds, replay_seconds, fit_seconds);
  return line + (fit.empty() ? "" : "  " + fit + "\n") + books.table();
}

std::string WorldPhaseSummary::to_json() const {
  return json{{"phase", "world-model"},
              {"finished", finished},
              {"episodes", episodes},
              {"steps", steps},
              {"collect_seconds", collect_seconds},
              {"replay_seconds", replay_seconds},
              {"fit_seconds", fit_seconds},
              {"books_balance", books.check().empty()}}
             .dump(2) +
         "\n";
}

}  // namespace regraft::learner
