#include "actors/policy_actor.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "actors/tickets.h"
#include "core/env/rule_features.h"
#include "core/nn/model/weights.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::actors {
namespace {

replay::Segment segment_for(const wire::Ticket& ticket, std::uint64_t version, nn::Head head) {
  constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
  replay::Segment segment;
  segment.ticket = ticket.id;
  segment.generation = ticket.generation;
  segment.weight_version = version;
  segment.hierarchical = head == nn::Head::hierarchical;
  segment.model = ticket.model;
  segment.seed = ticket.seed;
  segment.episode_return = segment.final_cost_ratio = segment.best_cost_ratio = unknown;
  return segment;
}

std::size_t total_size(const std::vector<replay::Bytes>& frames) {
  std::size_t size = 0;
  for (const replay::Bytes& frame : frames) size += frame.size();
  return size;
}

}  // namespace

PolicyActor::PolicyActor(wire::Link& link, task::WorkloadOptions workload, const nn::NetworkConfig& network,
                         const Clock& clock, std::chrono::nanoseconds simulated_step)
    : link_(link),
      environments_(std::move(workload), clock),
      network_(network),
      simulated_step_(simulated_step) {}

PolicyActor::~PolicyActor() = default;

void PolicyActor::run(const std::stop_token& stopped) {
  play_tickets(link_, stopped, [this](const wire::Ticket& ticket) { play(ticket); });
}

void PolicyActor::load_weights(const wire::Ticket& ticket) {
  // Another generation may give the same version to other weights.
  if (policy_ && version_ == ticket.weight_version && generation_ == ticket.generation) return;
  const wire::Weights fetched = fetch_weights(link_, ticket);
  const nn::Weights weights = nn::decode_weights(fetched.bytes);
  if (policy_)
    policy_->set_weights(weights);
  else
    policy_ = std::make_unique<nn::Policy>(
        network_, weights,
        env::make_rule_features(environments_.environment(ticket.model).rules(), network_.action_mode),
        nn::PolicyOptions{.device = "cpu"});
  version_ = fetched.info.version;
  generation_ = ticket.generation;
}

void PolicyActor::play(const wire::Ticket& ticket) {
  env::Environment& environment = environments_.environment(ticket.model);
  load_weights(ticket);
  Rng rng(ticket.seed, "policy actor");
  environment.reset(ticket.seed);
  const std::size_t length = std::clamp<std::size_t>(ticket.segment_length, 1, replay::kMaxSegmentSteps);
  replay::Segment segment = segment_for(ticket, version_, network_.head);
  double episode_return = 0;
  bool truncated = false;
  while (!environment.done()) {
    replay::Step step = policy_step(environment, rng, truncated);
    episode_return += step.reward;
    if (segment.steps.size() == length) {
      segment.bootstrap_value = step.value;
      if (!send(ticket, std::exchange(segment, segment_for(ticket, version_, network_.head)), false)) return;
    }
    segment.steps.push_back(std::move(step));
  }
  if (truncated) {
    segment.next_observation = environment.observation();
    segment.bootstrap_value = policy_->evaluate(*segment.next_observation).value;
  }
  const double initial = environment.initial_cost().latency_us;
  segment.episode_return = static_cast<float>(episode_return);
  segment.episode_costed = environment.rewrites();
  segment.final_cost_ratio = static_cast<float>(environment.cost().latency_us / initial);
  segment.best_cost_ratio = static_cast<float>(environment.best().cost.latency_us / initial);
  send(ticket, std::move(segment), true);
  ++episodes_;
}

/// What is left of the time that the step takes is waited for. The end of the run, which throws, ends a wait.
env::StepResult PolicyActor::timed_step(env::Environment& environment, std::size_t candidate) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  const auto end = steady_clock::now() + simulated_step_;
  const env::StepResult result = environment.step_candidate(candidate);
  const auto left = [&] { return std::chrono::floor<milliseconds>(end - steady_clock::now()); };
  for (milliseconds wait = left(); wait.count() > 0; wait = left()) link_.next_ack(wait);
  std::this_thread::sleep_until(end);
  return result;
}

replay::Step PolicyActor::policy_step(env::Environment& environment, Rng& rng, bool& truncated) {
  replay::Step step;
  step.observation = environment.observation();
  const nn::Evaluation evaluation = policy_->evaluate(step.observation);
  const nn::Choice choice = nn::sample(evaluation, rng);
  const env::StepResult result = timed_step(environment, choice.candidate);
  step.candidate = choice.candidate;
  step.log_probability = choice.log_probability;
  step.location_log_probability = choice.location_log_probability;
  step.value = evaluation.value;
  step.reward = static_cast<float>(result.reward);
  step.terminated = result.terminated;
  truncated = result.truncated;
  ++policy_steps_;
  return step;
}

/// Halves a segment that is too large for one message. False once the learner no longer wants the ticket.
bool PolicyActor::send(const wire::Ticket& ticket, replay::Segment segment, bool last) {
  std::vector<replay::Bytes> encoded = replay::encode_segment(segment);
  if (total_size(encoded) > replay::kMaxSegmentBytes && segment.steps.size() > 1) {
    replay::Segment first = segment_for(ticket, version_, network_.head);
    const auto middle = segment.steps.begin() + static_cast<std::ptrdiff_t>(segment.steps.size() / 2);
    first.steps.assign(std::make_move_iterator(segment.steps.begin()), std::make_move_iterator(middle));
    segment.steps.erase(segment.steps.begin(), middle);
    first.bootstrap_value = segment.steps.front().value;
    return send(ticket, std::move(first), false) && send(ticket, std::move(segment), last);
  }
  wire::PartInfo info;
  info.weight_version = version_;
  info.steps = static_cast<std::uint32_t>(segment.steps.size());
  info.last = last;
  info.policy_steps = policy_steps_;
  std::vector<wire::Frame> frames;
  for (replay::Bytes& bytes : encoded) frames.push_back(wire::Frame::adopt(std::move(bytes)));
  return link_.send(ticket, info, std::move(frames));
}

}
