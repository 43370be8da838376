#include "learner/ppo/ppo.h"

#include <torch/types.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/base/rng.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/network.h"
#include "core/nn/training/trainer.h"
#include "learner/optimiser/work_share.h"
#include "learner/ppo/ppo_core.h"
#include "learner/ppo/ppo_update.h"
#include "learner/ppo/target_tensors.h"
#include "replay/rollout/byte_reader.h"
#include "replay/rollout/episodes.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using nn::training::Gradients;
using nn::training::Network;
using nn::training::TrainerGraphs;
using replay::Segment;
using torch::Tensor;

constexpr std::uint32_t kStateFormat = 2;

/// Figures of each step from a forward pass without gradients: log pi of what was decided, and values; 0
/// where there is no second decision.
struct Recomputed {
  std::vector<float> first, second, values, rule_values;
};

/// The segments of one episode, in order.
using EpisodeSegments = std::span<const Segment>;

/// The value functions' parameters come last.
ValueRange values_of(Network& network) {
  const auto first = static_cast<std::int64_t>(nn::value_offset(nn::weight_layout(network.config())));
  return {first, network.parameters().numel() - first};
}

/// Numbers of consecutive graphs.
std::vector<std::size_t> numbers(std::size_t first, std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// In one transfer.
std::vector<float> joined(const std::vector<Tensor>& parts) {
  if (parts.empty()) return {};
  const auto host = torch::cat(parts).to(torch::kCPU, torch::kFloat32).contiguous();
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

  Recomputed recompute(const TrainerGraphs& loaded, const PpoRows& batch) const;
  std::vector<float> values(const TrainerGraphs& loaded, const PpoRows& ends) const;
  PpoRows imitated(const TrainerGraphs& loaded, PpoRows all, std::span<const Segment> best) const;
  /// The loss of the rows `own` among those of a minibatch, `all`.
  Tensor loss(const TrainerGraphs& loaded, const PpoRows& batch, const TargetTensors& targets,
              std::span<const std::size_t> own, std::span<const std::size_t> all, PpoSums& sums) const;

  Network network_;
  std::unique_ptr<nn::training::Trainer> trainer_;
  PpoCore core_;
};

/// Calls visit(output, first row) for some of the learner's part of the rows at a time.
template <typename Visit>
void forward_own(nn::training::Trainer& trainer, const TrainerGraphs& loaded, const PpoRows& rows,
                 const PpoCore& core, const Visit& visit) {
  const torch::NoGradGuard no_grad;
  const auto chunk = static_cast<std::size_t>(core.options().minibatch_steps);
  const WorkShare::Part own = core.work().part_of(rows.size());
  for (std::size_t first = own.first; first < own.first + own.count; first += chunk) {
    const std::size_t count = std::min(chunk, own.first + own.count - first);
    visit(trainer.forward(loaded, std::span(rows.graphs).subspan(first, count),
                          std::span(rows.candidates).subspan(first, count), Gradients::none),
          first);
  }
}

Recomputed Ppo::State::recompute(const TrainerGraphs& loaded, const PpoRows& batch) const {
  std::vector<Tensor> first, values, second, rule_values;
  std::vector<std::size_t> second_rows;
  forward_own(*trainer_, loaded, batch, core_,
              [&](const nn::training::TrainerOutput& output, std::size_t row) {
                first.push_back(output.first.log_probability);
                values.push_back(output.first.values);
                for (const std::size_t graph : output.second_graphs) second_rows.push_back(row + graph);
                if (output.second_graphs.empty()) return;
                second.push_back(output.second.log_probability);
                rule_values.push_back(output.second.values);
              });
  const WorkShare& work = core_.work();
  const std::vector<float> located = joined(second), located_values = joined(rule_values);
  Recomputed recomputed{work.joined(joined(first), batch.size()), std::vector<float>(batch.size(), 0.0F),
                        work.joined(joined(values), batch.size()), std::vector<float>(batch.size(), 0.0F)};
  for (std::size_t i = 0; i < second_rows.size(); ++i) {
    recomputed.second[second_rows[i]] = located[i];
    recomputed.rule_values[second_rows[i]] = located_values[i];
  }
  work.add_up(recomputed.second);
  work.add_up(recomputed.rule_values);
  return recomputed;
}

/// V1 of states, whatever is chosen there.
std::vector<float> Ppo::State::values(const TrainerGraphs& loaded, const PpoRows& states) const {
  std::vector<Tensor> values;
  forward_own(*trainer_, loaded, states, core_, [&](const nn::training::TrainerOutput& output, std::size_t) {
    values.push_back(output.first.values);
  });
  return core_.work().joined(joined(values), states.size());
}

Tensor Ppo::State::loss(const TrainerGraphs& loaded, const PpoRows& batch, const TargetTensors& targets,
                        std::span<const std::size_t> own, std::span<const std::size_t> all,
                        PpoSums& sums) const {
  std::vector<std::size_t> graphs;
  std::vector<std::int32_t> candidates;
  for (const std::size_t row : own) {
    graphs.push_back(batch.graphs[row]);
    candidates.push_back(batch.candidates[row]);
  }
  const auto output = trainer_->forward(loaded, graphs, candidates, Gradients::wanted);
  const auto said = [](const nn::training::DecisionOutput& of) {
    return Decisions{.log_probability = of.log_probability, .entropy = of.entropy, .values = of.values};
  };
  std::array<Decisions, 2> kinds;
  kinds[0] = targets.first(said(output.first), own);
  std::size_t count = 1;
  if (!output.second_graphs.empty()) {
    std::vector<std::size_t> second_rows;
    for (const std::size_t graph : output.second_graphs) second_rows.push_back(own[graph]);
    kinds[count++] = targets.second(said(output.second), second_rows);
  }
  return ppo_loss(std::span(kinds).first(count), core_.options(), core_.entropy_coefficient(), sums,
                  targets.size_of(all));
}

namespace {

/// With numbers of graphs from `first_graph` on.
PpoRows collect(std::span<const Segment> segments, nn::Head head, std::size_t first_graph) {
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
  batch.graphs = numbers(first_graph, batch.size());
  return batch;
}

/// The states that follow the last steps of episodes, where they were sent, with NO-OP as their choice.
PpoRows states_behind(std::span<const EpisodeSegments> episodes, std::size_t first_graph) {
  PpoRows states;
  for (const EpisodeSegments& episode : episodes) {
    if (!episode.back().next_observation) continue;
    const env::Observation& state = *episode.back().next_observation;
    states.observations.push_back(&state);
    states.candidates.push_back(static_cast<std::int32_t>(state.candidate_count()) - 1);
  }
  states.graphs = numbers(first_graph, states.size());
  return states;
}

using MakeTargets = StepTargets(const ActedSteps&, const ProximalSteps&, const PpoOptions&);

/// Advantages, targets and weights of one episode, whose figures begin at row `first` of `recomputed`.
StepTargets targets_of(EpisodeSegments episode, float bootstrap_value, const Recomputed& recomputed,
                       std::size_t first, const PpoOptions& options, MakeTargets make) {
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
              {.first = part(recomputed.first),
               .second = part(recomputed.second),
               .values = part(recomputed.values),
               .rule_values = part(recomputed.rule_values)},
              options);
}

/// Appends the rows for which `wanted(row)`.
template <typename Wanted>
void append_rows(PpoRows& to, const PpoRows& from, const Wanted& wanted) {
  for (std::size_t row = 0; row < from.size(); ++row) {
    if (!wanted(row)) continue;
    to.observations.push_back(from.observations[row]);
    to.graphs.push_back(from.graphs[row]);
    to.candidates.push_back(from.candidates[row]);
    to.models.push_back(from.models[row]);
    to.targets.append(from.targets, row);
  }
}

/// V1 of the state that follows each episode's last step: by the present weights where that state was sent,
/// else as the actor had it. Not read where the step terminated.
std::vector<float> bootstraps_of(std::span<const EpisodeSegments> episodes, std::span<const float> present) {
  std::vector<float> values;
  for (const EpisodeSegments& episode : episodes) {
    values.push_back(episode.back().bootstrap_value);
    if (!episode.back().next_observation) continue;
    values.back() = present.front();
    present = present.subspan(1);
  }
  return values;
}

bool better_than_expected(const StepTargets& targets, std::size_t row) {
  return targets.first.advantages[row] > 0 || targets.second.advantages[row] > 0;
}

/// All rows of an update, their advantages normalised where the options want it.
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
  return rows;
}

}  // namespace

PpoRows Ppo::State::imitated(const TrainerGraphs& loaded, PpoRows all, std::span<const Segment> best) const {
  const Recomputed recomputed = recompute(loaded, all);
  for (const EpisodeSegments& episode : replay::episodes_of(best))
    all.targets.append(
        targets_of(episode, 0, recomputed, all.targets.size(), core_.options(), make_imitation_targets));
  PpoRows better;
  append_rows(better, all, [&](std::size_t row) { return better_than_expected(all.targets, row); });
  return better;
}

Ppo::Ppo(const nn::NetworkConfig& network, const nn::Weights& weights, const env::RuleFeatureTable& rules,
         const PpoOptions& options, const std::string& device, std::uint64_t seed, nn::Engine engine) {
  state_ = std::make_unique<State>(network, rules, options, device, seed, engine);
  state_->network_.load(weights);
}

void Ppo::share_with(std::shared_ptr<wire::Group> group) {
  state_->core_.share_with(std::move(group));
}

Ppo::~Ppo() = default;
Ppo::Ppo(Ppo&&) noexcept = default;
Ppo& Ppo::operator=(Ppo&&) noexcept = default;

void Ppo::follow(std::span<const std::byte> data) {
  const PpoUpdate next = decode_ppo_update(data);
  if (next.annealed) anneal(*next.annealed);
  update(next.segments, next.best);
}

PpoMetrics Ppo::update(std::span<const Segment> segments, std::span<const Segment> best) {
  return train(prepare(segments, best));
}

PpoBatch Ppo::prepare(std::span<const Segment> segments, std::span<const Segment> best) const {
  const PpoOptions& options = state_->core_.options();
  const nn::Head head = state_->network_.config().head;
  const std::vector<EpisodeSegments> episodes = replay::episodes_of(segments);
  PpoBatch batch{collect(segments, head, 0), {}, {}, {}};
  if (batch.size() == 0) throw NnError("no steps to train on", "PPO update", "give at least one segment");
  if (options.imitation == 0) best = {};
  PpoRows kept = collect(best, head, batch.size());
  const PpoRows ends = states_behind(episodes, batch.size() + kept.size());
  std::vector<const env::Observation*> all = batch.observations;
  for (const PpoRows* more : {&std::as_const(kept), &ends})
    all.insert(all.end(), more->observations.begin(), more->observations.end());
  batch.loaded = state_->trainer_->load(all);
  const Recomputed recomputed = state_->recompute(*batch.loaded, batch);
  ArrivalCheck check(options.ratio_limit);
  const std::vector<float> bootstraps = bootstraps_of(episodes, state_->values(*batch.loaded, ends));
  for (std::size_t i = 0; i < episodes.size(); ++i)
    batch.targets.append(
        targets_of(episodes[i], bootstraps[i], recomputed, batch.targets.size(), options, make_targets));
  std::size_t first = 0;
  for (const Segment& segment : segments) {
    const bool current = segment.weight_version == version();
    for (std::size_t t = 0; t < segment.steps.size(); ++t) {
      check.look(recomputed.first[first + t], segment.steps[t].log_probability, current);
      if (batch.targets.second_halves[first + t] != 0)
        check.look(recomputed.second[first + t], segment.steps[t].location_log_probability, current);
    }
    if (current) batch.arrival.lag0_steps += segment.steps.size();
    first += segment.steps.size();
  }
  batch.arrival.steps = batch.size();
  batch.arrival.explained_variance = explained_variance(recomputed.values, batch.targets.first.targets);
  check.finish(batch.arrival);
  if (kept.size() > 0) batch.imitated = state_->imitated(*batch.loaded, std::move(kept), best);
  return batch;
}

PpoMetrics Ppo::train(const PpoBatch& batch) {
  const PpoOptions& options = state_->core_.options();
  const PpoRows rows = rows_of(batch, options);
  const TargetTensors targets(rows.targets, state_->network_.device());
  PpoMetrics metrics = batch.arrival;
  metrics.imitated_steps = rows.size() - batch.size();
  state_->core_.train(
      rows.size(),
      [&](std::span<const std::size_t> own, std::span<const std::size_t> all, PpoSums& sums) {
        return state_->loss(*batch.loaded, rows, targets, own, all, sums);
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

std::vector<std::byte> Ppo::save() const {
  return state_->core_.save(state_->network_.store());
}

void Ppo::restore(std::span<const std::byte> bytes) {
  nn::training::Network& network = state_->network_;
  state_->core_.restore(
      bytes, [&](const nn::Weights& weights) { nn::check(weights, network.config()); },
      [&](const nn::Weights& weights) { network.load(weights); });
}

}
