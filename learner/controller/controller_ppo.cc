#include "learner/controller/controller_ppo.h"

#include <torch/types.h>

#include <algorithm>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/controller_network.h"
#include "core/nn/training/device_tensor.h"
#include "learner/optimiser/work_share.h"
#include "learner/ppo/ppo_core.h"
#include "learner/ppo/ppo_targets.h"
#include "learner/ppo/target_tensors.h"
#include "replay/rollout/episodes.h"
#include "replay/rollout/frames.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using nn::training::ControllerNetwork;
using nn::training::ControllerOutput;
using nn::training::ControllerSteps;
using replay::DreamedStep;
using replay::DreamSegment;
using torch::Tensor;

constexpr std::uint32_t kStateFormat = 2;

/// The steps of all segments, one row each, on a device.
ControllerSteps steps_of(std::span<const DreamSegment> segments, const nn::ControllerConfig& config,
                         torch::Device device) {
  std::int64_t rows = 0;
  for (const DreamSegment& segment : segments) rows += static_cast<std::int64_t>(segment.steps.size());
  ControllerSteps steps{torch::empty({rows, config.state}), torch::zeros({rows, config.rules}, torch::kBool),
                        torch::empty({rows}, torch::kInt64), torch::empty({rows}, torch::kInt64),
                        torch::empty({rows}, torch::kInt64)};
  std::int64_t row = 0;
  for (const DreamSegment& segment : segments) {
    for (const DreamedStep& step : segment.steps) {
      if (step.state.size() != config.state || step.legal.back() + 1u != config.rules)
        throw NnError("a step is of another world model", "dream segment", "reject it");
      std::ranges::copy(step.state, steps.states.data_ptr<float>() + row * config.state);
      for (const std::uint16_t rule : step.legal)
        steps.legal.data_ptr<bool>()[row * config.rules + rule] = true;
      steps.rules.data_ptr<std::int64_t>()[row] = step.rule;
      steps.locations.data_ptr<std::int64_t>()[row] = step.location;
      steps.counts.data_ptr<std::int64_t>()[row] = std::min<std::uint32_t>(step.count, config.locations);
      if (step.location >= config.locations)
        throw NnError("a location is beyond those it tells apart", "dream segment", "reject it");
      ++row;
    }
  }
  for (Tensor* column : {&steps.states, &steps.legal, &steps.rules, &steps.counts, &steps.locations})
    *column = nn::training::to_device(*column, device);
  return steps;
}

ControllerSteps stretch_of(const ControllerSteps& steps, const WorkShare::Part& part) {
  const auto first = static_cast<std::int64_t>(part.first), count = static_cast<std::int64_t>(part.count);
  return {steps.states.narrow(0, first, count), steps.legal.narrow(0, first, count),
          steps.rules.narrow(0, first, count), steps.counts.narrow(0, first, count),
          steps.locations.narrow(0, first, count)};
}

ControllerSteps rows_of(const ControllerSteps& steps, const Tensor& rows) {
  return {steps.states.index_select(0, rows), steps.legal.index_select(0, rows),
          steps.rules.index_select(0, rows), steps.counts.index_select(0, rows),
          steps.locations.index_select(0, rows)};
}

std::vector<float> to_vector(const Tensor& tensor) {
  const Tensor host = tensor.cpu().contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

/// Figures of all steps under the present weights.
struct Recomputed {
  std::vector<float> first, second, values, rule_values;
};

/// The segments of one episode, in order.
using EpisodeSegments = std::span<const DreamSegment>;

struct Acted {
  Acted(EpisodeSegments episode, std::uint32_t noop) {
    for (const DreamSegment& segment : episode) {
      for (const DreamedStep& step : segment.steps) {
        rewards.push_back(step.reward);
        terminated.push_back(step.terminated ? 1 : 0);
        second_halves.push_back(step.rule != noop ? 1 : 0);
        first.push_back(step.log_rule);
        second.push_back(step.log_location);
      }
    }
  }
  std::vector<float> rewards, first, second;
  std::vector<std::uint8_t> terminated, second_halves;
};

/// The two value functions, V1 and V2.
std::vector<ValueRange> values_of(const nn::ControllerConfig& config) {
  std::vector<ValueRange> ranges;
  for (const nn::TensorSpec& spec : nn::weight_layout(config)) {
    if (!spec.name.starts_with("value")) continue;
    const auto offset = static_cast<std::int64_t>(spec.offset), count = static_cast<std::int64_t>(spec.count);
    if (ranges.empty() || ranges.back().offset + ranges.back().count != offset) ranges.push_back({offset, 0});
    ranges.back().count += count;
  }
  return ranges;
}

/// The model of each step.
std::vector<std::uint32_t> models_of(std::span<const DreamSegment> segments) {
  std::vector<std::uint32_t> models;
  for (const DreamSegment& segment : segments)
    models.insert(models.end(), segment.steps.size(), segment.model);
  return models;
}

}  // namespace

class ControllerPpo::State {
 public:
  State(const nn::ControllerConfig& config, const PpoOptions& options, std::uint64_t seed,
        const std::string& device)
      : network(config, torch::Device(nn::resolve_device(device))),
        core(options, network.parameters().values(), network.parameters().gradients(), values_of(config),
             seed, {"controller", "controller/minibatches", kStateFormat}) {}

  Recomputed recompute(const ControllerSteps& steps) const;
  std::vector<float> bootstraps(std::span<const EpisodeSegments> episodes) const;
  StepTargets targets(std::span<const DreamSegment> segments, const Recomputed& recomputed,
                      PpoMetrics& arrival) const;
  /// The loss of the rows `own` among those of a minibatch, `all`.
  Tensor loss(const ControllerSteps& steps, std::span<const std::uint8_t> second_halves,
              const TargetTensors& targets, std::span<const std::size_t> own,
              std::span<const std::size_t> all, PpoSums& sums) const;

  ControllerNetwork network;
  PpoCore core;
};

Recomputed ControllerPpo::State::recompute(const ControllerSteps& steps) const {
  const torch::NoGradGuard no_grad;
  const WorkShare& work = core.work();
  const auto rows = static_cast<std::size_t>(steps.size());
  const WorkShare::Part part = work.part_of(rows);
  Recomputed own;
  if (part.count > 0) {
    const ControllerOutput output = network.forward(stretch_of(steps, part));
    own = {to_vector(output.log_rule), to_vector(output.log_location), to_vector(output.value),
           to_vector(output.rule_value)};
  }
  return {work.joined(std::move(own.first), rows), work.joined(std::move(own.second), rows),
          work.joined(std::move(own.values), rows), work.joined(std::move(own.rule_values), rows)};
}

/// V1 of the state after each episode's last segment; 0 where it terminated.
std::vector<float> ControllerPpo::State::bootstraps(std::span<const EpisodeSegments> episodes) const {
  std::vector<float> values(episodes.size(), 0.0F), states;
  std::vector<std::size_t> cut;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const std::vector<float>& state = episodes[i].back().next_state;
    if (state.empty()) continue;
    if (state.size() != network.config().state)
      throw NnError("a state is of another world model", "dream segment", "reject it");
    cut.push_back(i);
    states.insert(states.end(), state.begin(), state.end());
  }
  if (cut.empty()) return values;
  const torch::NoGradGuard no_grad;
  const std::int64_t shape[] = {static_cast<std::int64_t>(cut.size()), network.config().state};
  const auto found = to_vector(network.values(nn::training::copied(states, shape, network.device())));
  for (std::size_t i = 0; i < cut.size(); ++i) values[cut[i]] = found[i];
  return values;
}

/// Also what is known before the update: the ratios of arrival.
StepTargets ControllerPpo::State::targets(std::span<const DreamSegment> segments,
                                          const Recomputed& recomputed, PpoMetrics& arrival) const {
  StepTargets all;
  ArrivalCheck check(core.options().ratio_limit);
  const std::vector<EpisodeSegments> episodes = replay::episodes_of(segments);
  const std::vector<float> behind = bootstraps(episodes);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const EpisodeSegments& episode = episodes[i];
    const Acted acted(episode, network.config().rules - 1);
    const std::size_t at = all.size(), count = acted.rewards.size();
    const auto part = [&](const std::vector<float>& figures) {
      return std::span(figures).subspan(at, count);
    };
    all.append(make_targets({.rewards = acted.rewards,
                             .terminated = acted.terminated,
                             .second_halves = acted.second_halves,
                             .first = acted.first,
                             .second = acted.second,
                             .bootstrap_value = behind[i]},
                            {.first = part(recomputed.first),
                             .second = part(recomputed.second),
                             .values = part(recomputed.values),
                             .rule_values = part(recomputed.rule_values)},
                            core.options()));
    const bool current = episode.front().weight_version == core.version();  // one of all its segments
    for (std::size_t t = 0; t < count; ++t) {
      check.look(recomputed.first[at + t], acted.first[t], current);
      if (acted.second_halves[t] != 0) check.look(recomputed.second[at + t], acted.second[t], current);
    }
    if (current) arrival.lag0_steps += count;
  }
  arrival.steps = all.size();
  arrival.explained_variance = explained_variance(recomputed.values, all.first.targets);
  check.finish(arrival);
  return all;
}

Tensor ControllerPpo::State::loss(const ControllerSteps& steps, std::span<const std::uint8_t> second_halves,
                                  const TargetTensors& targets, std::span<const std::size_t> own,
                                  std::span<const std::size_t> all, PpoSums& sums) const {
  const auto on_device = [&](const std::vector<std::int64_t>& numbers) {
    return nn::training::copied(numbers, network.device());
  };
  const ControllerOutput output =
      network.forward(rows_of(steps, on_device(std::vector<std::int64_t>(own.begin(), own.end()))));
  // Entries of the minibatch that have a second half, and their rows in the update.
  std::vector<std::int64_t> within;
  std::vector<std::size_t> second_rows;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (second_halves[own[i]] == 0) continue;
    within.push_back(static_cast<std::int64_t>(i));
    second_rows.push_back(own[i]);
  }
  const Tensor located = on_device(within);
  const Decisions kinds[] = {
      targets.first(
          {.log_probability = output.log_rule, .entropy = output.rule_entropy, .values = output.value}, own),
      targets.second({.log_probability = output.log_location.index_select(0, located),
                      .entropy = output.location_entropy.index_select(0, located),
                      .values = output.rule_value.index_select(0, located)},
                     second_rows)};
  return ppo_loss(kinds, core.options(), core.entropy_coefficient(), sums, targets.size_of(all));
}

ControllerPpo::ControllerPpo(const nn::ControllerConfig& config, const nn::Weights& weights,
                             const PpoOptions& options, std::uint64_t seed, const std::string& device) {
  state_ = std::make_unique<State>(config, options, seed, device);
  state_->network.load(weights);
}
ControllerPpo::~ControllerPpo() = default;

void ControllerPpo::share_with(std::shared_ptr<wire::Group> group) {
  state_->core.share_with(std::move(group));
}

std::vector<std::byte> encode_controller_update(double share, std::span<const DreamSegment> segments) {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(share);
  for (const DreamSegment& segment : segments)
    replay::write_frames(out, replay::encode_dream_segment(segment));
  return bytes;
}

void ControllerPpo::follow(std::span<const std::byte> data) {
  replay::ByteReader in(data);
  anneal(in.value<double>());
  std::vector<DreamSegment> segments;
  while (in.left() > 0) segments.push_back(replay::decode_dream_segment(replay::read_frames(in)));
  update(segments);
}

PpoMetrics ControllerPpo::update(std::span<const DreamSegment> segments) {
  if (segments.empty()) throw NnError("no steps to train on", "controller update", "give a segment");
  const ControllerSteps steps = steps_of(segments, config(), state_->network.device());
  const PpoOptions& options = state_->core.options();
  PpoMetrics metrics;
  StepTargets targets = state_->targets(segments, state_->recompute(steps), metrics);
  if (options.normalise_advantages)
    normalise_advantages(targets,
                         options.normalise_by_model ? models_of(segments) : std::vector<std::uint32_t>());
  const TargetTensors on_device(targets, state_->network.device());
  state_->core.train(
      targets.size(),
      [&](std::span<const std::size_t> own, std::span<const std::size_t> all, PpoSums& sums) {
        return state_->loss(steps, targets.second_halves, on_device, own, all, sums);
      },
      [](const Tensor& loss) { loss.backward(); }, metrics);
  return metrics;
}

void ControllerPpo::anneal(double share) {
  state_->core.anneal(share);
}

std::uint64_t ControllerPpo::version() const {
  return state_->core.version();
}
nn::Weights ControllerPpo::weights() const {
  return state_->network.store();
}
const nn::ControllerConfig& ControllerPpo::config() const {
  return state_->network.config();
}

std::vector<std::byte> ControllerPpo::save() const {
  return state_->core.save(state_->network.store());
}

void ControllerPpo::restore(std::span<const std::byte> bytes) {
  const auto check = [&](const nn::Weights& weights) {
    if (weights.tensors != nn::weight_layout(config()))
      throw NnError("the checkpoint's controller has other sizes", "checkpoint", "resume with its config");
  };
  state_->core.restore(bytes, check, [&](const nn::Weights& weights) { state_->network.load(weights); });
}

}
