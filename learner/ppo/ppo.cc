#include "learner/ppo/ppo.h"

#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/rng.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/nn/training/network.h"
#include "core/nn/training/trainer.h"
#include "learner/ppo/ppo_core.h"
#include "replay/rollout/bytes.h"
#include "replay/rollout/episodes.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using nn::training::Gradients;
using nn::training::Network;
using replay::Segment;
using torch::Tensor;

constexpr std::uint32_t kStateFormat = 2;

template <typename T>
Tensor to_device(const std::vector<T>& values, torch::ScalarType type, torch::Device device) {
  return torch::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())}, type)
      .clone()
      .to(device);
}

/// Figures of each step from a forward pass without gradients: log pi of what was decided, and values; 0
/// where there is no second decision.
struct Fresh {
  std::vector<float> first, second, values, xfer_values;
};

/// The segments of one episode, in order.
using Stretches = std::span<const Segment>;

/// The value functions' parameters come last.
ValueRange values_of(Network& network) {
  const auto first = static_cast<std::int64_t>(nn::value_offset(nn::weight_layout(network.config())));
  return {first, network.parameters().numel() - first};
}

/// The steps of one minibatch and what they train towards.
struct Minibatch {
  std::vector<const env::Observation*> observations;
  std::vector<std::int32_t> candidates;
  std::vector<std::size_t> rows;  // of the batch
};

/// `rows` of one kind of decision, with what the policy in training says of them.
Decisions decisions(const nn::training::DecisionOutput& output, const DecisionTargets& targets,
                    std::span<const std::uint8_t> imitated, std::span<const std::size_t> rows,
                    torch::Device device) {
  const auto column = [&](const std::vector<float>& values) {
    std::vector<float> chosen;
    for (const std::size_t row : rows) chosen.push_back(values[row]);
    return to_device(chosen, torch::kFloat32, device);
  };
  std::vector<float> marks;
  for (const std::size_t row : rows) marks.push_back(imitated[row]);
  const bool none = std::ranges::count(marks, 0.0F) == std::ssize(marks);
  return {.log_probability = output.log_probability,
          .entropy = output.entropy,
          .values = output.values,
          .proximal = column(targets.proximal),
          .weights = column(targets.weights),
          .advantages = column(targets.advantages),
          .targets = column(targets.targets),
          .imitated = none ? Tensor() : to_device(marks, torch::kFloat32, device).to(torch::kBool)};
}

std::vector<float> to_host(const Tensor& values) {
  const auto host = values.to(torch::kCPU, torch::kFloat32).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace

class Ppo::State {
 public:
  State(const nn::NetworkConfig& config, const env::RuleFeatureTable& rules, const PpoOptions& options,
        const std::string& device, std::uint64_t seed, nn::Engine engine)
      : network_(config, torch::Device(nn::resolve_device(device))),
        trainer_(nn::training::make_trainer(network_, rules, engine)),
        core_(options, network_.parameters(), network_.gradients(), {{values_of(network_)}}, seed,
              {"PPO", "learner/minibatches", kStateFormat}) {}

  Fresh recompute(const PpoRows& batch) const;
  std::vector<float> bootstraps(std::span<const Stretches> episodes) const;
  PpoRows imitated(std::span<const Segment> best) const;
  Minibatch minibatch(const PpoRows& batch, std::span<const std::size_t> rows) const;
  Tensor loss(const Minibatch& minibatch, const StepTargets& targets, PpoSums& sums) const;

  Network network_;
  std::unique_ptr<nn::training::Trainer> trainer_;
  PpoCore core_;
};

Fresh Ppo::State::recompute(const PpoRows& batch) const {
  torch::NoGradGuard no_grad;
  Fresh fresh;
  fresh.second.assign(batch.size(), 0.0F);
  fresh.xfer_values.assign(batch.size(), 0.0F);
  const std::size_t chunk = static_cast<std::size_t>(core_.options().minibatch_steps);
  for (std::size_t first = 0; first < batch.size(); first += chunk) {
    const std::size_t count = std::min(chunk, batch.size() - first);
    const auto output = trainer_->forward(std::span(batch.observations).subspan(first, count),
                                          std::span(batch.candidates).subspan(first, count), Gradients::none);
    const auto append = [](std::vector<float>& to, const std::vector<float>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(fresh.first, to_host(output.first.log_probability));
    append(fresh.values, to_host(output.first.values));
    if (output.second_graphs.empty()) continue;
    const auto second = to_host(output.second.log_probability), values = to_host(output.second.values);
    for (std::size_t i = 0; i < second.size(); ++i) {
      fresh.second[first + output.second_graphs[i]] = second[i];
      fresh.xfer_values[first + output.second_graphs[i]] = values[i];
    }
  }
  return fresh;
}

/// V1 of the state that follows each episode's last step: by the present weights where that state was sent,
/// else as the actor had it. Not read where the step terminated.
std::vector<float> Ppo::State::bootstraps(std::span<const Stretches> episodes) const {
  torch::NoGradGuard no_grad;
  std::vector<float> values;
  for (const Stretches& episode : episodes) {
    const Segment& end = episode.back();
    values.push_back(end.bootstrap_value);
    if (!end.next_observation) continue;
    const env::Observation* const observation = &*end.next_observation;
    const auto noop = static_cast<std::int32_t>(observation->candidate_count()) - 1;  // any will do
    const auto output = trainer_->forward({&observation, 1}, {&noop, 1}, Gradients::none);
    values.back() = to_host(output.first.values).front();
  }
  return values;
}

Minibatch Ppo::State::minibatch(const PpoRows& batch, std::span<const std::size_t> rows) const {
  Minibatch minibatch;
  minibatch.rows.assign(rows.begin(), rows.end());
  for (const std::size_t row : rows) {
    minibatch.observations.push_back(batch.observations[row]);
    minibatch.candidates.push_back(batch.candidates[row]);
  }
  return minibatch;
}

Tensor Ppo::State::loss(const Minibatch& minibatch, const StepTargets& targets, PpoSums& sums) const {
  const auto output = trainer_->forward(minibatch.observations, minibatch.candidates, Gradients::wanted);
  std::array<Decisions, 2> kinds;
  kinds[0] = decisions(output.first, targets.first, targets.imitated, minibatch.rows, network_.device());
  std::size_t count = 1;
  if (!output.second_graphs.empty()) {
    std::vector<std::size_t> rows;
    for (const std::size_t graph : output.second_graphs) rows.push_back(minibatch.rows[graph]);
    kinds[count++] = decisions(output.second, targets.second, targets.imitated, rows, network_.device());
  }
  return ppo_loss(std::span(kinds).first(count), core_.options(), core_.entropy_coefficient(), sums);
}

namespace {

PpoRows collect(std::span<const Segment> segments, nn::Head head) {
  PpoRows batch;
  for (const Segment& segment : segments) {
    if (segment.hierarchical != (head == nn::Head::hierarchical))
      throw NnError("a segment was acted by a policy with another head", "segment", "reject it");
    for (const auto& step : segment.steps) {
      batch.observations.push_back(&step.observation);
      batch.candidates.push_back(static_cast<std::int32_t>(step.candidate));
      batch.models.push_back(segment.model);
    }
  }
  return batch;
}

using MakeTargets = StepTargets(const ActedSteps&, const ProximalSteps&, const PpoOptions&);

/// Advantages, targets and weights of one episode, whose figures begin at row `first` of `fresh`.
StepTargets targets_of(Stretches episode, float bootstrap_value, const Fresh& fresh, std::size_t first,
                       const PpoOptions& options, MakeTargets make) {
  std::vector<float> rewards, acted, located;
  std::vector<std::uint8_t> terminated, second_halves;
  for (const Segment& segment : episode) {
    for (const replay::Step& step : segment.steps) {
      rewards.push_back(step.reward);
      terminated.push_back(step.terminated);
      second_halves.push_back(segment.hierarchical && chose_location(step));
      acted.push_back(step.log_probability);
      located.push_back(step.location_log_probability);
    }
  }
  const std::size_t count = rewards.size();
  const auto part = [&](const std::vector<float>& figures) {
    return std::span(figures).subspan(first, count);
  };
  return make({.rewards = rewards,
               .terminated = terminated,
               .second_halves = second_halves,
               .first = acted,
               .second = located,
               .bootstrap_value = bootstrap_value},
              {.first = part(fresh.first),
               .second = part(fresh.second),
               .values = part(fresh.values),
               .xfer_values = part(fresh.xfer_values)},
              options);
}

/// Appends the rows for which `wanted(row)`.
template <typename Wanted>
void append_rows(PpoRows& to, const PpoRows& from, const Wanted& wanted) {
  for (std::size_t row = 0; row < from.size(); ++row) {
    if (!wanted(row)) continue;
    to.observations.push_back(from.observations[row]);
    to.candidates.push_back(from.candidates[row]);
    to.models.push_back(from.models[row]);
    to.targets.append(from.targets, row);
  }
}

bool better_than_expected(const StepTargets& targets, std::size_t row) {
  return targets.first.advantages[row] > 0 || targets.second.advantages[row] > 0;
}

/// All rows of an update, their advantages normalised where the options want it. Imitated ones, however few,
/// count `options.imitation` times as much as the fresh ones together.
PpoRows rows_of(const PpoBatch& batch, const PpoOptions& options) {
  PpoRows rows = batch, imitated = batch.imitated;
  if (options.normalise_advantages) {
    const auto groups = [&](const PpoRows& of) {
      return options.normalise_by_model ? of.models : std::vector<std::uint32_t>(of.size(), 0);
    };
    const auto scales = normalise_advantages(rows.targets, groups(rows));
    scale_imitated(imitated.targets, groups(imitated), scales);
  }
  const auto wanted = [&](std::size_t row) { return better_than_expected(imitated.targets, row); };
  append_rows(rows, imitated, wanted);
  const auto fresh = static_cast<double>(batch.size());
  const double imitated_rows = static_cast<double>(rows.size()) - fresh;
  for (std::size_t row = batch.size(); row < rows.size(); ++row)
    rows.targets.first.weights[row] = rows.targets.second.weights[row] =
        static_cast<float>(options.imitation * fresh / imitated_rows);
  return rows;
}

}  // namespace

PpoRows Ppo::State::imitated(std::span<const Segment> best) const {
  PpoRows all = collect(best, network_.config().head);
  const Fresh fresh = recompute(all);
  for (const Stretches& episode : replay::episodes_of(best))
    all.targets.append(
        targets_of(episode, 0, fresh, all.targets.size(), core_.options(), make_imitation_targets));
  PpoRows better;
  append_rows(better, all, [&](std::size_t row) { return better_than_expected(all.targets, row); });
  return better;
}

Ppo::Ppo(const nn::NetworkConfig& network, const nn::Weights& weights, const env::RuleFeatureTable& rules,
         const PpoOptions& options, const std::string& device, std::uint64_t seed, nn::Engine engine) {
  state_ = std::make_unique<State>(network, rules, options, device, seed, engine);
  state_->network_.load(weights);
}

Ppo::~Ppo() = default;
Ppo::Ppo(Ppo&&) noexcept = default;
Ppo& Ppo::operator=(Ppo&&) noexcept = default;

PpoMetrics Ppo::update(std::span<const Segment> segments, std::span<const Segment> best) {
  return train(prepare(segments, best));
}

PpoBatch Ppo::prepare(std::span<const Segment> segments, std::span<const Segment> best) const {
  const PpoOptions& options = state_->core_.options();
  PpoBatch batch{collect(segments, state_->network_.config().head), {}, {}};
  if (batch.size() == 0) throw NnError("no steps to train on", "PPO update", "give at least one segment");
  const Fresh fresh = state_->recompute(batch);
  ArrivalCheck check(options.ratio_limit);
  const std::vector<Stretches> episodes = replay::episodes_of(segments);
  const std::vector<float> bootstraps = state_->bootstraps(episodes);
  for (std::size_t i = 0; i < episodes.size(); ++i)
    batch.targets.append(
        targets_of(episodes[i], bootstraps[i], fresh, batch.targets.size(), options, make_targets));
  std::size_t first = 0;
  for (const Segment& segment : segments) {
    const bool current = segment.weight_version == version();
    for (std::size_t t = 0; t < segment.steps.size(); ++t) {
      check.look(fresh.first[first + t], segment.steps[t].log_probability, current);
      if (batch.targets.second_halves[first + t] != 0)
        check.look(fresh.second[first + t], segment.steps[t].location_log_probability, current);
    }
    if (current) batch.arrival.lag0_steps += segment.steps.size();
    first += segment.steps.size();
  }
  batch.arrival.steps = batch.size();
  batch.arrival.explained_variance = explained_variance(fresh.values, batch.targets.first.targets);
  check.finish(batch.arrival);
  if (!best.empty() && options.imitation > 0) batch.imitated = state_->imitated(best);
  return batch;
}

PpoMetrics Ppo::train(const PpoBatch& batch) {
  const PpoOptions& options = state_->core_.options();
  const PpoRows rows = rows_of(batch, options);
  PpoMetrics metrics = batch.arrival;
  metrics.imitated_steps = rows.size() - batch.size();
  state_->core_.train(
      rows.size(),
      [&](std::span<const std::size_t> chosen, PpoSums& sums) {
        return state_->loss(state_->minibatch(rows, chosen), rows.targets, sums);
      },
      [&](const Tensor& loss) { state_->trainer_->backward(loss); }, metrics);
  return metrics;
}

void Ppo::anneal(double share) {
  state_->core_.anneal(share);
}

std::uint64_t Ppo::version() const {
  return state_->core_.version();
}
nn::Weights Ppo::weights() const {
  return state_->network_.store();
}
const nn::NetworkConfig& Ppo::network() const {
  return state_->network_.config();
}
const PpoOptions& Ppo::options() const {
  return state_->core_.options();
}

std::vector<std::byte> Ppo::save() const {
  return state_->core_.save(state_->network_.store());
}

void Ppo::restore(std::span<const std::byte> bytes) {
  nn::training::Network& network = state_->network_;
  state_->core_.restore(
      bytes, [&](const nn::Weights& weights) { nn::check(weights, network.config()); },
      [&](const nn::Weights& weights) { network.load(weights); });
}

}  // namespace regraft::learner
