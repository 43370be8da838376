#include "learner/world/collect_phase.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/env/action_mode.h"
#include "learner/world/final_errors.h"
#include "learner/world/world_folder.h"
#include "replay/rollout/replay_error.h"
#include "replay/rollout/rollout.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr std::uint64_t kRound = 16;  // tickets, in lock step

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

replay::SequenceReplay::Options replay_options(const CollectSetup& setup) {
  replay::SequenceReplay::Options options;
  options.memory_bytes = setup.world.replay_mib << 20;
  if (setup.world.spill) {
    const WorldFolder folder(setup.job.folder);
    std::filesystem::create_directories(folder.root);
    options.spill = folder.spill();
  }
  return options;
}

}  // namespace

void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted) {
  if (replay.forgotten() == 0 || replay.steps() >= wanted) return;
  throw UsageError("there is room for " + std::to_string(replay.steps()) + " of the " +
                       std::to_string(wanted) + " steps that world.collect_steps asks for",
                   "world.replay_mib", "raise it, set world.spill, or collect fewer steps");
}

CollectPhase::CollectPhase(std::string name, CollectSetup setup, double share, const Clock& clock)
    : Phase({.name = std::move(name), .limited = false, .lock_step = setup.job.options.deterministic}),
      setup_(std::move(setup)),
      share_(share),
      clock_(clock),
      started_ns_(clock.steady_ns()),
      plan_({.seed = options().seed,
             .models = static_cast<std::uint32_t>(setup_.models.size()),
             .segment_length = 0,
             .deterministic = options().deterministic,
             .episodes_per_update = kRound,
             .weights = false}),
      replay_(replay_options(setup_)),
      curves_(clock) {}

double CollectPhase::seconds_since_start() const {
  return static_cast<double>(clock_.steady_ns() - started_ns_) / static_cast<double>(nanoseconds_per_second);
}

/// When the time is over, it must do for a held-out episode of each model.
bool CollectPhase::has_enough() const {
  if (complete_ || replay_.steps() >= setup_.world.collect_steps) return true;
  const double limit_s = 60 * options().minutes;  // 0: none
  return limit_s > 0 && replay_.size() >= setup_.models.size() * setup_.world.held_out_every &&
         seconds_before_ + seconds_since_start() >= share_ * limit_s;
}

std::unique_ptr<TicketResult> CollectPhase::judge(const wire::Delivery& delivery) {
  const auto read = [&] { return std::make_unique<RolloutResult>(rollout_of(delivery)); };
  return options().deterministic ? final_errors(read) : read();
}

/// In lock step by whole rounds, so that the replay does not depend on who was faster.
void CollectPhase::admit(std::unique_ptr<TicketResult> result, std::uint64_t) {
  replay::Rollout& rollout = static_cast<RolloutResult&>(*result).rollout;
  curves_.add(rollout);
  const std::uint64_t sequence = rollout.sequence;
  round_.emplace(sequence, std::move(rollout));
  if (options().deterministic && round_.size() < kRound) return;
  for (const auto& [place, episode] : round_) replay_.add(episode);
  round_.clear();
  require_room(replay_, setup_.world.collect_steps);
  enough_ = has_enough();
  if (options().deterministic && !enough_) ++rounds_;
}

UpdateResult CollectPhase::update(const JobFigures& job) {
  seconds_before_ = seconds(job);
  replay_.sort_by_sequence();
  complete_ = true;
  return {.save_now = true};
}

PhaseState CollectPhase::save(std::span<const std::unique_ptr<TicketResult>>, const JobFigures& job) {
  PhaseState state;
  state.number = ++saves_;
  state.parts["replay"] = replay_.save();
  state.values = {{"complete", complete_},
                  {"tickets", plan_.position()},
                  {"rounds", rounds_.load()},
                  {"collect_seconds", seconds(job)}};
  return state;
}

PhaseStart CollectPhase::restore(const PhaseState* saved, std::uint64_t) {
  if (saved == nullptr) {
    if (!setup_.world.rollouts.empty()) take_earlier();
    return {};
  }
  const json& state = saved->values;
  saves_ = saved->number.value();
  complete_ = state.at("complete");
  rounds_ = state.at("rounds");
  seconds_before_ = state.at("collect_seconds");
  replay_.restore(saved->parts.at("replay"));
  plan_.resume(rounds_, state.at("tickets"));
  enough_ = has_enough();
  log_info("resumed with {} episodes", replay_.size());
  return {};
}

/// Rollouts of an earlier run come first; tickets go on behind theirs, so that none is played again.
void CollectPhase::take_earlier() {
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
  enough_ = has_enough();
  log_info("{} earlier rollouts, {} steps", replay_.size(), replay_.steps());
}

PhaseReport CollectPhase::report(const JobFigures& job) {
  return {curves_.point(replay_.steps(), replay_.size(), has_enough() || job.ending),
          {.label = "collecting",
           .unit = "steps",
           .total = setup_.world.collect_steps,
           .done = std::min(replay_.steps(), setup_.world.collect_steps),
           .note = std::to_string(replay_.size()) + " episodes"}};
}

PhaseSummary CollectPhase::summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const {
  return summary_with(json::object(), "\n", "", job, ticket_counts);
}

PhaseSummary CollectPhase::summary_with(const json& more, const std::string& line_end,
                                        const std::string& lines, const JobFigures& job,
                                        const wire::JobTicketCounts& ticket_counts) const {
  json figures = {
      {"phase", traits().name},
      {"finished", job.finished},
      {"episodes", replay_.size()},
      {"steps", replay_.steps()},
      {"retained", ticket_counts.total().retained},
      {"collect_seconds", seconds(job)},
  };
  figures.update(more);
  char line[256];
  std::snprintf(line, sizeof line, "%s: %zu episodes (%llu steps) collected in %.1f s",
                job.finished ? "done" : "stopped", replay_.size(),
                static_cast<unsigned long long>(replay_.steps()), seconds(job));
  std::string text = line + line_end;
  if (job.finished && replay_.steps() < setup_.world.collect_steps)
    text += "train.minutes ended the collecting: world.collect_steps asks for " +
            std::to_string(setup_.world.collect_steps) + " steps\n";
  text += lines;
  if (job.finished) text += "results: " + WorldFolder(setup_.job.folder).root.string() + "\n";
  return {figures, text, true, {}};
}

void CollectPhase::export_as(const std::string&, const JobFigures&) {
  if (!complete_) return;
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
}

}
