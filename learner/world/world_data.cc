#include "learner/world/world_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/log.h"
#include "core/base/rng.h"
#include "core/rules/lang/rule_error.h"
#include "replay/rollout/play.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

constexpr double kRewardTolerance = 1e-5;
constexpr double kMostLost = 0.1;    // of the episodes
constexpr std::uint64_t kNamed = 5;  // lost episodes that are logged, each

std::size_t bytes_of(const env::Observation& o) {
  return o.node_ids.size() * (sizeof(std::uint32_t) + sizeof(std::uint16_t)) +
         (o.node_features.size() + o.edge_features.size() + o.globals.size()) * sizeof(float) +
         (o.senders.size() + o.receivers.size() + o.candidate_nodes.size()) * sizeof(std::int32_t) +
         o.candidate_rules.size() * (2 * sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
         o.location_counts.size() * sizeof(std::uint16_t);
}

StateFacts facts_of(env::Environment& environment, std::uint32_t peeks, Rng& rng) {
  StateFacts facts;
  const double initial = environment.initial_cost().latency_us, now = environment.cost().latency_us;
  facts.log_cost_ratio = static_cast<float>(std::log(now / initial));
  const env::Observation& observation = environment.observation();
  facts.counts = observation.location_counts;
  if (environment.done() || observation.candidate_count() == 1) return facts;
  for (std::uint32_t i = 0; i < peeks; ++i) {
    const env::Action action = replay::draw_random_action(observation, 0, rng);
    try {
      const double after = environment.peek_latency_us(action);
      facts.peeks.push_back({static_cast<std::uint16_t>(action.rule),
                             static_cast<std::uint16_t>(action.location),
                             static_cast<float>((now - after) / initial)});
    } catch (const rules::RuleError&) {
      // Refused by the rewriter: a step would change nothing.
      facts.peeks.push_back(
          {static_cast<std::uint16_t>(action.rule), static_cast<std::uint16_t>(action.location), 0.0f});
    }
  }
  return facts;
}

}  // namespace

WorldEpisode WorldData::play(const replay::Rollout& rollout, std::uint32_t peeks,
                             std::vector<env::Observation>& observations) const {
  env::Environment& environment = environment_of_(rollout.model);
  environment.reset(rollout.seed);
  Rng rng(seed_, "peeks " + std::to_string(rollout.sequence));
  WorldEpisode episode;
  episode.model = rollout.model;
  episode.sequence = rollout.sequence;
  episode.terminated = rollout.terminated;
  episode.actions = rollout.steps;
  const auto look = [&] {
    episode.states.push_back(facts_of(environment, peeks, rng));
    observations.push_back(environment.observation());
  };
  look();
  for (const replay::RolloutStep& step : rollout.steps) {
    const auto refuse = [&](const char* problem) {
      throw replay::ReplayError(problem, "rollout of ticket " + std::to_string(rollout.sequence),
                                "replay it with the models, rules, device and reward it was collected with");
    };
    if (environment.done()) refuse("goes on after its end");
    const env::StepResult result = environment.step({step.rule, step.location});
    if (result.info.invalid != env::Invalid::none && result.info.invalid != env::Invalid::refused)
      refuse("holds an action that is not legal");
    if (std::abs(result.reward - static_cast<double>(step.reward)) > kRewardTolerance)
      refuse("is paid otherwise when it is replayed");
    look();
  }
  return episode;
}

WorldData::WorldData(const replay::SequenceReplay& replay, const WorldOptions& options,
                     EnvironmentOf environment_of)
    : environment_of_(std::move(environment_of)), seed_(options.seed) {
  std::size_t cached = 0;
  std::string first_problem;
  std::map<std::uint32_t, std::uint64_t> played;  // episodes, by model
  for (std::size_t i = 0; i < replay.size(); ++i) {
    replay::Rollout rollout;
    std::vector<env::Observation> observations;
    try {
      rollout = replay.at(i);
      episodes_.push_back(play(rollout, options.peeks, observations));
      costed_ += rollout.costed + environment_of_(rollout.model).peeked();
    } catch (const Error& error) {
      if (lost_++ == 0) first_problem = error.what();
      if (lost_ <= kNamed) log_warning("an episode is left out: {}", error.what());
      continue;
    }
    const std::size_t index = episodes_.size() - 1;
    std::size_t size = 0;
    for (const env::Observation& observation : observations) size += bytes_of(observation);
    const bool keep = cached + size <= options.cache_mib << 20;
    if (keep) cached += size;
    // By model: tickets go round the models, so that their own numbers would leave some out.
    const bool last = played[rollout.model]++ % options.held_out_every == options.held_out_every - 1;
    (last ? held_out_ : train_).push_back(index);
    cache_.push_back(keep ? std::move(observations) : std::vector<env::Observation>{});
    uncached_.push_back(keep ? replay::Rollout{} : std::move(rollout));
    steps_ += episodes_.back().length();
  }
  if (lost_ > 0) log_warning("{} of {} episodes are left out", lost_, replay.size());
  if (static_cast<double>(lost_) > kMostLost * static_cast<double>(replay.size()))
    throw replay::ReplayError(std::to_string(lost_) + " of " + std::to_string(replay.size()) +
                                  " episodes cannot be replayed; the first: " + first_problem,
                              "world model",
                              "replay them with the models, rules, device and reward of the collector");
  if (train_.empty() || held_out_.empty())
    throw replay::ReplayError(std::to_string(episodes_.size()) + " episodes are too few to fit and hold out",
                              "world model", "collect more steps");
  rule_count_ = static_cast<std::uint32_t>(episodes_.front().states.front().counts.size() - 1);
  std::vector<bool> legal(std::size_t{rule_count_} + 1, false);
  legal.back() = true;
  for (const WorldEpisode& episode : episodes_)
    for (const StateFacts& state : episode.states)
      for (std::size_t rule = 0; rule < rule_count_; ++rule)
        if (state.counts[rule] > 0) legal[rule] = true;
  rows_.assign(legal.size(), 0);
  for (std::size_t rule = 0; rule < legal.size(); ++rule) {
    if (!legal[rule]) continue;
    rows_[rule] = static_cast<std::uint32_t>(rules_.size());
    rules_.push_back(static_cast<std::uint16_t>(rule));
  }
}

std::vector<env::Observation> WorldData::observations(std::size_t episode) const {
  if (!cache_[episode].empty()) return cache_[episode];
  std::vector<env::Observation> made;
  play(uncached_[episode], 0, made);
  return made;
}

}
