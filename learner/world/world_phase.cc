#include "learner/world/world_phase.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/log.h"
#include "core/base/usage.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/nn/world_bundle.h"
#include "learner/job/learner_error.h"
#include "learner/job/ticket_plan.h"
#include "learner/world/world_curves.h"
#include "replay/rollout/error.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr double kNsPerS = 1e9;
constexpr std::uint64_t kRound = 16;   // tickets, in lock step
constexpr double kCollectShare = 0.5;  // of train.minutes at most, where a fit follows

struct RolloutResult : TicketResult {
  explicit RolloutResult(replay::Rollout of) : rollout(std::move(of)) { steps = rollout.steps.size(); }
  replay::Rollout rollout;
};

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
    const WorldFolder folder(setup.job.folder);
    std::filesystem::create_directories(folder.root);
    options.spill = folder.spill();
  }
  return options;
}

/// What a call does not understand of the job's episodes it understands no better next time.
template <typename Call>
auto final_errors(const Call& call) {
  try {
    return call();
  } catch (const replay::ReplayError& error) {
    throw LearnerError(error.problem(), error.where(), error.remedy());
  } catch (const nn::NnError& error) {
    throw LearnerError(error.problem(), error.where(), error.remedy());
  }
}

class WorldPhase : public Phase {
 public:
  WorldPhase(WorldPhaseSetup setup, const Clock& clock)
      : Phase({.name = "world-model", .limited = false, .lock_step = setup.job.options.deterministic}),
        setup_(std::move(setup)),
        clock_(clock),
        plan_({options().seed, static_cast<std::uint32_t>(setup_.models.size()), 0, options().deterministic,
               kRound, false}),
        replay_(replay_options(setup_)),
        curves_(clock),
        started_ns_(clock.steady_ns()) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t) override;
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo&, std::uint64_t) override {
    return collected_ ? std::nullopt : plan_.next(1 + rounds_);
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override {
    const auto read = [&] { return std::make_unique<RolloutResult>(rollout_of(delivery)); };
    return options().deterministic ? final_errors(read) : read();
  }
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t) override;
  PhaseStatus status(std::uint64_t) const override {
    return {.ready = collected_ && !done(), .done = done(), .settled = round_.empty()};
  }
  UpdateResult update(const JobFigures& job) override;

  PhaseState save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures& job) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string&, const JobFigures&) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override;

 private:
  const LearnerOptions& options() const { return setup_.job.options; }
  bool done() const {
    return setup_.collect_only ? complete_ : fit_ && fit_->stage() == WorldFit::Stage::done;
  }
  double limit_s() const { return 60 * options().minutes; }  // 0: none
  bool collected_for_long() const {
    const double share = setup_.collect_only ? 1 : kCollectShare;
    return limit_s() > 0 && collected_before_s_ + seconds_since(started_ns_) >= share * limit_s();
  }
  bool has_enough() const {
    return complete_ || replay_.steps() >= setup_.world.collect_steps ||
           (replay_.size() >= setup_.models.size() * setup_.world.held_out_every && collected_for_long());
  }
  double fit_time_share(const JobFigures& job) const;
  void take_earlier();
  void start_fit();
  PhaseProgress progress() const;
  std::string describe(const json& figures) const;
  double seconds_since(std::int64_t start_ns) const {
    return static_cast<double>(clock_.steady_ns() - start_ns) / kNsPerS;
  }
  double collect_seconds(const JobFigures& job) const {
    return collected_before_s_ + (complete_ ? 0 : job.seconds_here);
  }

  const WorldPhaseSetup setup_;
  const Clock& clock_;
  std::atomic<std::uint64_t> rounds_{0};  // lock step: those that are whole
  std::atomic<bool> collected_ = false;   // no more tickets
  TicketPlan plan_;
  replay::SequenceReplay replay_;
  WorldCurves curves_;
  const std::int64_t started_ns_;
  std::map<std::uint64_t, replay::Rollout> round_;  // lock step: of the round under way
  bool complete_ = false;                           // the replay is, and in its final order
  replay::Bytes saved_fit_;
  std::unique_ptr<WorldFit> fit_;
  std::uint64_t saves_ = 0;
  double collected_before_s_ = 0, replay_seconds_ = 0, fit_seconds_ = 0;
};

/// In lock step by whole rounds, so that the replay does not depend on who was faster.
void WorldPhase::admit(std::unique_ptr<TicketResult> result, std::uint64_t) {
  replay::Rollout& rollout = static_cast<RolloutResult&>(*result).rollout;
  curves_.add(rollout);
  const std::uint64_t sequence = rollout.sequence;
  round_.emplace(sequence, std::move(rollout));
  if (options().deterministic && round_.size() < kRound) return;
  for (const auto& [place, episode] : round_) replay_.add(episode);
  round_.clear();
  require_room(replay_, setup_.world.collect_steps);
  collected_ = has_enough();
  if (options().deterministic && !collected_) ++rounds_;
}

UpdateResult WorldPhase::update(const JobFigures& job) {
  if (!complete_) {
    collected_before_s_ = collect_seconds(job);
    replay_.sort_by_sequence();
    complete_ = true;
    return {.save_now = true};
  }
  return final_errors([&]() -> UpdateResult {
    if (!fit_) start_fit();
    if (done()) return {.made = false};
    const std::int64_t start_ns = clock_.steady_ns();
    fit_->advance(fit_time_share(job));
    fit_seconds_ += seconds_since(start_ns);
    return {};
  });
}

/// How much is over of the time that collecting and replaying left.
double WorldPhase::fit_time_share(const JobFigures& job) const {
  if (limit_s() == 0) return 0;
  const double before_s = collected_before_s_ + replay_seconds_;
  return before_s < limit_s() ? (job.seconds - before_s) / (limit_s() - before_s) : 1;
}

void WorldPhase::start_fit() {
  const std::int64_t start_ns = clock_.steady_ns();
  fit_ = std::make_unique<WorldFit>(setup_.context, replay_, setup_.world, setup_.environment_of,
                                    nn::PolicyOptions{.device = options().device});
  if (!saved_fit_.empty()) fit_->restore(saved_fit_);
  log_info("fitting from update {} on", fit_->updates_done());
  replay_seconds_ += seconds_since(start_ns);
}

PhaseReport WorldPhase::report(const JobFigures& job) {
  if (fit_) return {curves_.fitted(*fit_, replay_.steps()), progress()};
  return {curves_.collected(replay_.steps(), replay_.size(), has_enough() || job.ending), progress()};
}

PhaseProgress WorldPhase::progress() const {
  if (fit_)
    return {.label = "fitting",
            .unit = "updates",
            .total = fit_->updates_in_all(),
            .done = fit_->updates_done(),
            .note = fit_->status()};
  return {.label = "collecting",
          .unit = "steps",
          .total = setup_.world.collect_steps,
          .done = std::min(replay_.steps(), setup_.world.collect_steps),
          .note = std::to_string(replay_.size()) + " episodes"};
}

PhaseState WorldPhase::save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures& job) {
  PhaseState state;
  state.number = ++saves_;
  state.parts["replay"] = replay_.save();
  state.parts["fit"] = fit_ ? fit_->save() : saved_fit_;
  state.values = {{"complete", complete_},
                  {"tickets", plan_.position()},
                  {"rounds", rounds_.load()},
                  {"collect_seconds", collect_seconds(job)},
                  {"replay_seconds", replay_seconds_},
                  {"fit_seconds", fit_seconds_}};
  return state;
}

PhaseStart WorldPhase::restore(const PhaseState* saved, std::uint64_t) {
  if (saved == nullptr) {
    if (!setup_.world.rollouts.empty()) take_earlier();
    return {};
  }
  const json& state = saved->values;
  saves_ = saved->number.value();
  complete_ = state.at("complete");
  rounds_ = state.at("rounds");
  collected_before_s_ = state.at("collect_seconds");
  replay_seconds_ = state.at("replay_seconds");
  fit_seconds_ = state.at("fit_seconds");
  replay_.restore(saved->parts.at("replay"));
  saved_fit_ = saved->parts.at("fit");
  plan_.resume(rounds_, state.at("tickets"));
  collected_ = has_enough();
  log_info("resumed with {} episodes", replay_.size());
  return {};
}

/// Rollouts of an earlier run come first; tickets go on behind theirs, so that none is played again.
void WorldPhase::take_earlier() {
  const replay::RolloutFile file = replay::load_rollouts(setup_.world.rollouts);
  if (file.rule_set_hash != setup_.context.rule_set_hash || file.models != setup_.models)
    throw UsageError("these rollouts are of other rules or models", setup_.world.rollouts,
                     "give those that were collected with the job's");
  if (json::parse(file.record).value(env::kAllSitesField, false) !=
      (setup_.context.action_mode == env::ActionMode::all_sites))
    throw UsageError("these rollouts were played with another workload.action_mode", setup_.world.rollouts,
                     "give it as it was there");
  for (const replay::Rollout& rollout : file.rollouts) {
    replay_.add(rollout);
    rounds_ = std::max(rounds_.load(), rollout.sequence / kRound + 1);
  }
  plan_.move_to(rounds_ * kRound);
  collected_ = has_enough();
  log_info("{} earlier rollouts, {} steps", replay_.size(), replay_.steps());
}

void WorldPhase::export_as(const std::string&, const JobFigures&) {
  if (!done()) return;
  const WorldFolder folder(setup_.job.folder);
  std::filesystem::create_directories(folder.root);
  replay::RolloutFile file;
  file.rule_set_hash = setup_.context.rule_set_hash;
  file.models = setup_.models;
  file.record = json{{"noop", setup_.world.noop},
                     {env::kAllSitesField, setup_.context.action_mode == env::ActionMode::all_sites},
                     {"config", setup_.job.config_toml}}
                    .dump();
  for (std::size_t i = 0; i < replay_.size(); ++i) file.rollouts.push_back(replay_.at(i));
  replay::save_rollouts(file, folder.rollouts());
  if (!fit_) return;
  fit_->write_figures(folder.root);
  nn::save_bundle({fit_->world(), {}, {}, {}}, folder.model());
}

PhaseSummary WorldPhase::summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const {
  const json figures{{"phase", "world-model"},
                     {"finished", job.finished},
                     {"episodes", replay_.size()},
                     {"steps", replay_.steps()},
                     {"lost_episodes", fit_ ? fit_->lost_episodes() : 0},
                     {"updates", fit_ ? fit_->updates_done() : 0},
                     {"retained", ticket_counts.total().retained},
                     {"collect_seconds", collect_seconds(job)},
                     {"replay_seconds", replay_seconds_},
                     {"fit_seconds", fit_seconds_}};
  return {figures, describe(figures), true, {}};
}

std::string WorldPhase::describe(const json& figures) const {
  const auto count = [&](const char* key) { return figures.at(key).get<unsigned long long>(); };
  const auto seconds = [&](const char* key) { return figures.at(key).get<double>(); };
  const bool finished = figures.at("finished");
  char line[512];
  std::snprintf(line, sizeof line,
                "%s: %llu episodes (%llu steps) collected in %.1f s, replayed in %.1f s, fitted in %.1f s\n",
                finished ? "done" : "stopped", count("episodes"), count("steps"), seconds("collect_seconds"),
                seconds("replay_seconds"), seconds("fit_seconds"));
  std::string text = line;
  if (const auto lost = count("lost_episodes"); lost > 0)
    text += std::to_string(lost) + " episodes could not be replayed and were left out\n";
  if (finished && count("steps") < setup_.world.collect_steps)
    text += "train.minutes ended the collecting: world.collect_steps asks for " +
            std::to_string(setup_.world.collect_steps) + " steps\n";
  if (finished && fit_ && fit_->updates_done() < fit_->updates_in_all())
    text += "train.minutes ended the fit after " + std::to_string(fit_->updates_done()) + " of " +
            std::to_string(fit_->updates_in_all()) + " updates\n";
  if (fit_) text += "  " + fit_->status() + "\n";
  if (finished) text += "results: " + WorldFolder(setup_.job.folder).root.string() + "\n";
  return text;
}

}  // namespace

void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted) {
  if (replay.forgotten() == 0 || replay.steps() >= wanted) return;
  throw UsageError("there is room for " + std::to_string(replay.steps()) + " of the " +
                       std::to_string(wanted) + " steps that world.collect_steps asks for",
                   "world.replay_mib", "raise it, set world.spill, or collect fewer steps");
}

std::unique_ptr<Phase> make_world_phase(WorldPhaseSetup setup, const Clock& clock) {
  return std::make_unique<WorldPhase>(std::move(setup), clock);
}

}  // namespace regraft::learner
