#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/env/env_error.h"
#include "core/env/environment.h"

namespace regraft::env {

/// Anything that plays episodes of (rule, location): a real environment, or one that a world model dreams.
class EpisodeWorld {
 public:
  struct Outcome {
    double reward = 0;
    bool terminated = false, truncated = false;
    Invalid invalid = Invalid::none;
  };

  virtual ~EpisodeWorld() = default;
  virtual void reset(std::uint64_t seed) = 0;
  virtual Outcome step(Action action) = 0;
  virtual bool done() const = 0;
  virtual std::uint32_t steps() const = 0;
  virtual std::uint32_t noop() const = 0;
  /// Whether an episode may end where actions remain, before the horizon or at it, as in a dream that
  /// foretells its end.
  virtual bool may_end_early() const { return false; }
  /// Locations of each rule, 0 where it is not legal, NO-OP's 1.
  virtual std::vector<std::uint16_t> counts() const = 0;
  /// Equal where the states are, apart from the steps taken; bytes or numbers as text.
  virtual std::string fingerprint() const = 0;
};

/// The contract of an episode, whoever plays it: masks equal legality, NO-OP, horizon, invalid actions,
/// determinism, reset.
class EpisodeConformance {
 public:
  using Make = std::function<std::unique_ptr<EpisodeWorld>(EnvOptions)>;

  EpisodeConformance(Make make, EnvOptions options) : make_(std::move(make)), options_(std::move(options)) {}

  void check(std::uint64_t seed) const {
    SCOPED_TRACE("seed " + std::to_string(seed));
    masks_equal_legality(seed);
    noop_ends_for_nothing();
    invalid_actions_change_nothing(seed);
    horizon_terminates_or_truncates(seed);
    equal_actions_give_equal_episodes(seed);
    reset_equals_fresh(seed);
  }

  void equal_actions_give_equal_episodes(std::uint64_t seed) const {
    const auto one = after({}, seed), other = after({}, seed);
    Rng rng(seed, "determinism");
    while (!one->done()) {
      const Action action = random_action(*one, rng);
      const EpisodeWorld::Outcome a = one->step(action), b = other->step(action);
      EXPECT_EQ(a.reward, b.reward);
      EXPECT_EQ(a.terminated, b.terminated);
      EXPECT_EQ(a.truncated, b.truncated);
      ASSERT_EQ(one->fingerprint(), other->fingerprint());
      ASSERT_EQ(one->counts(), other->counts());
    }
    EXPECT_TRUE(other->done());
  }

 private:
  /// How many are legal other than NO-OP.
  static std::uint64_t legal_actions(const EpisodeWorld& world) {
    const std::vector<std::uint16_t> counts = world.counts();
    std::uint64_t legal = 0;
    for (std::uint32_t rule = 0; rule < world.noop(); ++rule) legal += counts[rule];
    return legal;
  }

  /// A legal action other than NO-OP, which is taken only where nothing else is legal.
  static Action random_action(const EpisodeWorld& world, Rng& rng) {
    const std::vector<std::uint16_t> counts = world.counts();
    const std::uint64_t legal = legal_actions(world);
    if (legal == 0) return {world.noop(), 0};
    std::uint64_t left = rng.below(legal);
    std::uint32_t rule = 0;
    for (; left >= counts[rule]; ++rule) left -= counts[rule];
    return {rule, static_cast<std::uint32_t>(left)};
  }

  /// One in the state that these actions lead to.
  std::unique_ptr<EpisodeWorld> after(const std::vector<Action>& actions, std::uint64_t seed) const {
    auto world = make_(options_);
    world->reset(seed);
    for (const Action action : actions) world->step(action);
    return world;
  }

  /// The first and the last location of the prefix can be taken, the one behind it cannot.
  void masks_equal_legality(std::uint64_t seed) const {
    constexpr std::size_t kWalk = 4;
    constexpr std::uint32_t kMost = 6;  // rules of a state
    std::vector<Action> actions;
    Rng rng(seed, "masks of episodes");
    for (auto world = after({}, seed); !world->done() && actions.size() < kWalk;) {
      const std::vector<std::uint16_t> counts = world->counts();
      ASSERT_EQ(counts.size(), world->noop() + 1);
      EXPECT_EQ(counts[world->noop()], 1) << "NO-OP is always legal";
      const std::uint32_t stride = 1 + world->noop() / kMost;
      for (auto rule = static_cast<std::uint32_t>(rng.below(stride)); rule < world->noop(); rule += stride) {
        const std::uint32_t count = counts[rule];
        for (const std::uint32_t location : {0u, count - 1, count}) {
          if (location > count) continue;
          const auto twin = after(actions, seed);
          ASSERT_EQ(twin->counts(), counts);
          EXPECT_EQ(twin->step({rule, location}).invalid,
                    location < count ? Invalid::none : Invalid::no_such_location)
              << rule << " " << location << " of " << count;
        }
      }
      actions.push_back(random_action(*world, rng));
      world->step(actions.back());
    }
  }

  void noop_ends_for_nothing() const {
    const auto world = after({}, 0);
    const Action noop{world->noop(), 0};
    const EpisodeWorld::Outcome outcome = world->step(noop);
    EXPECT_TRUE(outcome.terminated);
    EXPECT_FALSE(outcome.truncated);
    EXPECT_EQ(outcome.reward, 0.0);
    EXPECT_EQ(outcome.invalid, Invalid::none);
    EXPECT_TRUE(world->done());
    EXPECT_THROW(world->step(noop), EnvError);
  }

  void invalid_actions_change_nothing(std::uint64_t seed) const {
    EnvOptions options = options_;
    options.horizon = 50;
    options.invalid_penalty = 0.25;
    const auto world = make_(options);
    world->reset(seed);
    const std::vector<std::uint16_t> counts = world->counts();
    const std::string state = world->fingerprint();
    std::vector<std::pair<Action, Invalid>> wrong = {{{world->noop() + 1, 0}, Invalid::no_such_rule},
                                                     {{world->noop(), 1}, Invalid::no_such_location}};
    for (std::uint32_t rule = 0; rule < world->noop(); ++rule)
      wrong.push_back({{rule, counts[rule]}, Invalid::no_such_location});
    std::uint32_t steps = 0;
    for (const auto& [action, why] : wrong) {
      if (world->done()) break;
      const EpisodeWorld::Outcome outcome = world->step(action);
      EXPECT_EQ(outcome.invalid, why);
      if (!outcome.terminated) {
        EXPECT_EQ(outcome.reward, -0.25);
      }
      EXPECT_EQ(world->steps(), ++steps) << "it costs a step";
      EXPECT_EQ(world->fingerprint(), state);
      EXPECT_EQ(world->counts(), counts);
    }
  }

  void horizon_terminates_or_truncates(std::uint64_t seed) const {
    for (const HorizonMode mode : {HorizonMode::terminate, HorizonMode::truncate}) {
      EnvOptions options = options_;
      options.horizon = 2;
      options.horizon_mode = mode;
      const auto world = make_(options);
      world->reset(seed);
      Rng rng(seed, "horizon");
      EpisodeWorld::Outcome outcome;
      while (!world->done()) outcome = world->step(random_action(*world, rng));
      EXPECT_LE(world->steps(), 2u);
      const bool remain = legal_actions(*world) > 0;
      if (!world->may_end_early()) {
        EXPECT_TRUE(world->steps() == 2 || !remain) << "the horizon alone ends it where actions remain";
        EXPECT_EQ(outcome.truncated, remain && mode == HorizonMode::truncate);
      }
      if (mode == HorizonMode::terminate || world->steps() < 2) {
        EXPECT_TRUE(outcome.terminated);
      }
      EXPECT_NE(outcome.terminated, outcome.truncated) << "an episode ends in one way";
    }
  }

  void reset_equals_fresh(std::uint64_t seed) const {
    const auto world = after({}, seed);
    const std::string first = world->fingerprint();
    const std::vector<std::uint16_t> counts = world->counts();
    Rng rng(seed, "reset");
    for (int episode = 0; episode < 3; ++episode) {
      while (!world->done()) world->step(random_action(*world, rng));
      world->reset(seed);
      EXPECT_EQ(world->fingerprint(), first);
      EXPECT_EQ(world->counts(), counts);
      EXPECT_EQ(world->steps(), 0u);
      EXPECT_FALSE(world->done());
    }
    world->step(random_action(*world, rng));
    world->reset(seed);
    EXPECT_EQ(world->fingerprint(), first) << "in the midst of an episode, too";
  }

  Make make_;
  EnvOptions options_;
};

}
