#include "replay/dream/dream_recorder.h"

#include <limits>
#include <string>
#include <utility>

#include "core/base/rng.h"

namespace regraft::replay {

void DreamRecorder::chose(std::span<const float> state, std::span<const std::uint32_t> legal,
                          std::uint32_t count, const nn::ControllerChoice& choice) {
  if (open_.steps.empty()) {
    open_ = header_;
    open_.episode_return = open_.final_cost_ratio = open_.best_cost_ratio =
        std::numeric_limits<float>::quiet_NaN();
  }
  DreamedStep step;
  step.state.assign(state.begin(), state.end());
  for (const std::uint32_t rule : legal) step.legal.push_back(static_cast<std::uint16_t>(rule));
  step.rule = static_cast<std::uint16_t>(choice.rule);
  step.location = static_cast<std::uint16_t>(choice.location);
  step.count = static_cast<std::uint16_t>(count);
  step.log_rule = choice.log_rule;
  step.log_location = choice.log_location;
  open_.steps.push_back(std::move(step));
}

void DreamRecorder::paid(double reward, bool terminated, bool truncated, std::span<const float> next_state) {
  DreamedStep& step = open_.steps.back();
  step.reward = static_cast<float>(reward);
  step.terminated = terminated;
  return_ += reward;
  const bool ended = terminated || truncated;
  if (!ended && open_.steps.size() < kMaxDreamedSteps) return;
  if (!terminated) open_.next_state.assign(next_state.begin(), next_state.end());
  if (ended) open_.episode_return = static_cast<float>(return_);
  segments_.push_back(std::exchange(open_, {}));
}

std::vector<DreamSegment> record_dreams(nn::Dream& dream, nn::DreamPlayer& player,
                                        std::span<const nn::DreamStart> starts, const DreamSegment& header,
                                        std::uint32_t most_steps) {
  const auto replicas = static_cast<std::uint32_t>(starts.size());
  std::vector<DreamRecorder> recorders;
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    DreamSegment own = header;
    own.episode = replica;
    recorders.emplace_back(std::move(own));
    const std::uint64_t seed = Rng(header.seed, "episode " + std::to_string(replica)).next();
    dream.reset(replica, starts[replica], seed);
    player.reset(replica, seed);
  }
  for (std::uint32_t steps = 1;; ++steps) {
    const bool last = steps == most_steps;
    std::vector<std::uint32_t> running;
    for (std::uint32_t replica = 0; replica < replicas; ++replica)
      if (!dream.done(replica)) running.push_back(replica);
    if (running.empty()) break;
    const std::span<const nn::ControllerChoice> choices = player.choose(nn::ActionSelection::drawn);
    for (const std::uint32_t replica : running)
      recorders[replica].chose(dream.state(replica), dream.legal(replica),
                               dream.location_count(replica, choices[replica].rule), choices[replica]);
    const std::span<const nn::DreamStep> results = dream.step(player.actions());
    for (const std::uint32_t replica : running)
      recorders[replica].paid(results[replica].reward, results[replica].terminated,
                              results[replica].truncated || last, dream.state(replica));
    if (last) break;
  }
  std::vector<DreamSegment> all;
  for (DreamRecorder& recorder : recorders)
    for (DreamSegment& segment : recorder.segments()) all.push_back(std::move(segment));
  return all;
}

std::vector<DreamSegment> record_episode(env::Environment& environment, nn::LatentTracker& tracker,
                                         nn::Controller& controller, nn::ActionSelection selection,
                                         const DreamSegment& header, BranchRecorder* branches) {
  Rng rng(header.seed, "controller");
  DreamRecorder recorder(header);
  const std::uint32_t noop = controller.config().rules - 1, row = 0;
  for (tracker.reset(environment.observation()); !environment.done();) {
    std::vector<std::uint32_t> legal;
    for (std::uint32_t rule = 0; rule <= noop; ++rule)
      if (tracker.counts()[rule] > 0) legal.push_back(rule);
    controller.read({&row, 1}, tracker.state().data(), tracker.state().size());
    nn::ControllerChoice choice = controller.choose_rule(row, legal, selection, rng);
    const std::uint32_t count = choice.rule == noop ? 1 : tracker.counts()[choice.rule];
    if (choice.rule != noop) controller.choose_location(row, count, selection, rng, choice);
    recorder.chose(tracker.state(), legal, count, choice);
    if (branches != nullptr) branches->state(tracker.start());
    const env::Action action{tracker.rule_of(choice.rule), choice.location};
    const env::StepResult result = environment.step(action);
    tracker.advance(action, environment.observation());
    recorder.paid(result.reward, result.terminated, result.truncated, tracker.state());
    if (branches != nullptr) branches->acted({choice.rule, choice.location}, result.reward);
  }
  if (branches != nullptr) branches->state(tracker.start());
  DreamSegment& end = recorder.segments().back();
  const double initial = environment.initial_cost().latency_us;
  end.final_cost_ratio = static_cast<float>(environment.cost().latency_us / initial);
  end.best_cost_ratio = static_cast<float>(environment.best().cost.latency_us / initial);
  return std::move(recorder.segments());
}

}
