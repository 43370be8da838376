#include "core/nn/inference/dream.h"

#include <algorithm>
#include <cmath>

#include "core/env/env_error.h"
#include "core/nn/fused/dream_engine.h"
#include "core/nn/fused/reward_rows.h"

namespace regraft::nn {
namespace {

constexpr double kEvenOdds = 0.5;

DreamOptions checked(DreamOptions options, const WorldModel& world) {
  if (options.horizon == 0) options.horizon = world.horizon;
  if (options.horizon == 0) throw env::EnvError("the horizon is 0 steps", "dream horizon", "use at least 1");
  if (!(options.invalid_penalty >= 0))
    throw env::EnvError("the penalty is negative", "dream invalid_penalty", "use 0 or more");
  if (!(options.sample.tau >= 0))
    throw env::EnvError("the temperature is negative", "dream tau", "use 0 or more");
  if (!(options.legality_threshold >= kEvenOdds && options.legality_threshold < 1))
    throw env::EnvError("the legality threshold is out of range", "legality threshold", "use 0.5 to below 1");
  return options;
}

/// Kinds whose NO-OP is free by their definition; others may pay at the end.
bool noop_is_free(const std::string& reward_kind) {
  return reward_kind == "incremental" || reward_kind == "best" || reward_kind == "detailed";
}

/// One replica's episode, apart from its row in the engine.
struct Replica {
  std::vector<std::uint32_t> legal;
  std::vector<std::uint16_t> counts;  // at the start, where they are known; empty afterwards
  std::uint32_t steps = 0;
  bool done = true;
};

}  // namespace

DreamStart start_of(const WorldStart& start) {
  return {start.latent, {}, {}, start.counts, 0};
}

class Dream::State {
 public:
  State(const WorldModel& world, const DreamOptions& chosen, std::uint32_t replicas)
      : options(checked(chosen, world)),
        least_logit(
            static_cast<float>(std::log(options.legality_threshold / (1 - options.legality_threshold)))),
        rewards(world.rewards),
        free_noop(noop_is_free(world.reward_kind)),
        location_limit(world.location_limit),
        engine(world.config.dynamics),
        reward_rows(world.config, world.reward),
        episodes(replicas),
        streams(replicas, Rng(0, "dream")),
        results(replicas),
        networks_rewards(replicas) {
    check(world, "dream");
    engine.load(world.dynamics);
    engine.set_replicas(replicas);
  }

  std::uint32_t noop() const { return engine.config().rules - 1; }
  std::uint32_t location_count(std::uint32_t replica, std::uint32_t rule) const;
  void step(std::span<const env::Action> actions);
  void imagine();
  void read_mask(std::uint32_t replica);
  std::uint32_t certain_bin(std::uint32_t replica, std::uint32_t rule) const;
  double reward_of(std::uint32_t replica) const;
  void finish(std::uint32_t replica, bool stopped);

  DreamOptions options;
  float least_logit;  // of a rule that is offered
  RewardStatistics rewards;
  bool free_noop;
  std::uint32_t location_limit;
  internal::DreamEngine engine;
  internal::RewardRows reward_rows;
  std::vector<Replica> episodes;
  std::vector<Rng> streams;
  std::vector<DreamStep> results;
  std::vector<float> networks_rewards;
  std::vector<std::uint32_t> moving;  // replicas that the world model is asked about in this step
};

std::uint32_t Dream::State::location_count(std::uint32_t replica, std::uint32_t rule) const {
  const Replica& episode = episodes[replica];
  if (!std::ranges::binary_search(episode.legal, rule)) return 0;
  if (rule == noop()) return 1;
  if (!episode.counts.empty()) return episode.counts[rule];
  const std::uint32_t least = least_count(certain_bin(replica, rule));
  return location_limit == 0 ? least : std::min(least, location_limit);
}

/// The most likely bin, or the highest one that the count reaches with enough probability where that is
/// lower.
std::uint32_t Dream::State::certain_bin(std::uint32_t replica, std::uint32_t rule) const {
  const std::uint32_t likely = engine.count_bin_of(replica, rule);
  if (options.legality_threshold == kEvenOdds || likely == 0) return likely;
  const std::vector<float> logits = engine.count_logits(replica, rule);
  const float most = *std::ranges::max_element(logits);
  double total = 0, reached = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit - most));
  for (auto bin = static_cast<std::uint32_t>(logits.size()); bin-- > 0;) {
    reached += std::exp(static_cast<double>(logits[bin] - most));
    if (reached >= options.legality_threshold * total) return std::min(bin, likely);
  }
  return 0;
}

void Dream::State::step(std::span<const env::Action> actions) {
  moving.clear();
  for (std::uint32_t replica = 0; replica < episodes.size(); ++replica) {
    results[replica] = {};
    Replica& episode = episodes[replica];
    if (episode.done) continue;
    const env::Action action = actions[replica];
    ++episode.steps;
    env::Invalid& invalid = results[replica].invalid;
    if (action.rule > noop())
      invalid = env::Invalid::no_such_rule;
    else if (action.location >= location_count(replica, action.rule))
      invalid = env::Invalid::no_such_location;
    if (invalid != env::Invalid::none) {
      results[replica].reward = -options.invalid_penalty;
      finish(replica, false);
    } else if (action.rule == noop() && free_noop) {
      finish(replica, true);
    } else {
      engine.embed(replica, action.rule, action.location);
      moving.push_back(replica);
    }
  }
  if (moving.empty()) return;
  imagine();
  for (const std::uint32_t replica : moving) {
    results[replica].reward = reward_of(replica);
    if (actions[replica].rule == noop()) {
      finish(replica, true);
      continue;
    }
    read_mask(replica);
    finish(replica, engine.terminal(replica) > 0);
  }
}

/// The separate reward network reads z of before the step with h of after it.
void Dream::State::imagine() {
  engine.advance(moving);
  engine.read_heads(moving);
  if (reward_rows.exist())
    reward_rows.read(moving, engine.state(0).data(), engine.state_stride(), networks_rewards);
  engine.sample(moving, options.sample, streams);
}

void Dream::State::read_mask(std::uint32_t replica) {
  Replica& episode = episodes[replica];
  episode.counts.clear();
  episode.legal.clear();
  const std::span<const float> logits = engine.rule_logits(replica);
  for (std::uint32_t rule = 0; rule < noop(); ++rule)
    if (logits[rule] > least_logit) episode.legal.push_back(rule);
  episode.legal.push_back(noop());
}

double Dream::State::reward_of(std::uint32_t replica) const {
  const float said = reward_rows.exist() ? networks_rewards[replica] : engine.reward(replica);
  return std::clamp(rewards.reward_of(said), rewards.low, rewards.high);
}

void Dream::State::finish(std::uint32_t replica, bool stopped) {
  Replica& episode = episodes[replica];
  const bool nothing_legal = episode.legal.size() == 1;
  const bool at_horizon = episode.steps >= options.horizon;
  DreamStep& result = results[replica];
  result.terminated =
      stopped || nothing_legal || (at_horizon && options.horizon_mode == env::HorizonMode::terminate);
  result.truncated = at_horizon && !result.terminated;
  episode.done = result.terminated || result.truncated;
}

Dream::Dream(const WorldModel& world, const DreamOptions& options, std::uint32_t replicas)
    : state_(std::make_unique<State>(world, options, replicas)) {}
Dream::~Dream() = default;
Dream::Dream(Dream&&) noexcept = default;
Dream& Dream::operator=(Dream&&) noexcept = default;

void Dream::reset(std::uint32_t replica, const DreamStart& start, std::uint64_t seed) {
  internal::DreamEngine& engine = state_->engine;
  const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  if (start.latent.size() != engine.config().latent || start.counts.size() != engine.config().rules ||
      !fits(start.hidden.size(), engine.config().hidden) || !fits(start.cell.size(), engine.config().hidden))
    throw NnError("the start is of another world model", "dream", "encode it with this one");
  const auto set = [](std::span<float> to, const std::vector<float>& from) {
    if (from.empty())
      std::ranges::fill(to, 0.0f);
    else
      std::ranges::copy(from, to.begin());
  };
  set(engine.latent(replica), start.latent);
  set(engine.hidden(replica), start.hidden);
  set(engine.cell(replica), start.cell);
  Replica& episode = state_->episodes[replica];
  episode.counts = start.counts;
  episode.legal.clear();
  for (std::uint32_t rule = 0; rule < state_->noop(); ++rule)
    if (start.counts[rule] > 0) episode.legal.push_back(rule);
  episode.legal.push_back(state_->noop());
  episode.steps = start.steps;
  episode.done = false;
  state_->streams[replica] = Rng(seed, "dream");
}

std::span<const DreamStep> Dream::step(std::span<const env::Action> actions) {
  if (actions.size() != replicas())
    throw NnError("there is not one action a replica", "dream", "give one to those that are done, too");
  if (std::ranges::all_of(state_->episodes, &Replica::done))
    throw env::EnvError("all episodes are over", "dream step", "call reset first");
  state_->step(actions);
  return state_->results;
}

std::uint32_t Dream::replicas() const {
  return static_cast<std::uint32_t>(state_->episodes.size());
}
bool Dream::done(std::uint32_t replica) const {
  return state_->episodes[replica].done;
}
std::uint32_t Dream::steps(std::uint32_t replica) const {
  return state_->episodes[replica].steps;
}
std::uint32_t Dream::noop() const {
  return state_->noop();
}
std::span<const std::uint32_t> Dream::legal(std::uint32_t replica) const {
  return state_->episodes[replica].legal;
}
std::uint32_t Dream::location_count(std::uint32_t replica, std::uint32_t rule) const {
  return state_->location_count(replica, rule);
}
std::vector<std::uint16_t> Dream::location_counts(std::uint32_t replica) const {
  std::vector<std::uint16_t> counts(state_->engine.config().rules, 0);
  for (const std::uint32_t rule : legal(replica))
    counts[rule] = static_cast<std::uint16_t>(location_count(replica, rule));
  return counts;
}
std::span<const float> Dream::state(std::uint32_t replica) const {
  return state_->engine.state(replica);
}
std::size_t Dream::state_stride() const {
  return state_->engine.state_stride();
}

DreamPlayer::DreamPlayer(const Dream& dream, Controller& controller)
    : dream_(dream),
      controller_(controller),
      streams_(dream.replicas(), Rng(0, "dream player")),
      choices_(dream.replicas()),
      actions_(dream.replicas()) {
  if (controller.config().state != dream.state(0).size() || controller.config().rules != dream.noop() + 1)
    throw NnError("the controller is of another world model", "dream player", "use the bundle it belongs to");
}

void DreamPlayer::reset(std::uint32_t replica, std::uint64_t seed) {
  streams_[replica] = Rng(seed, "dream player");
}

std::span<const ControllerChoice> DreamPlayer::choose(ActionSelection selection) {
  running_.clear();
  for (std::uint32_t replica = 0; replica < dream_.replicas(); ++replica)
    if (!dream_.done(replica)) running_.push_back(replica);
  if (running_.empty()) return choices_;
  controller_.read(running_, dream_.state(0).data(), dream_.state_stride());
  for (const std::uint32_t replica : running_) {
    ControllerChoice& choice = choices_[replica];
    choice = controller_.choose_rule(replica, dream_.legal(replica), selection, streams_[replica]);
    if (choice.rule != dream_.noop())
      controller_.choose_location(replica, dream_.location_count(replica, choice.rule), selection,
                                  streams_[replica], choice);
    actions_[replica] = {choice.rule, choice.location};
  }
  return choices_;
}

}
