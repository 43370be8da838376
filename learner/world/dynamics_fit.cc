#include "learner/world/dynamics_fit.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/nn/training/device_tensor.h"
#include "learner/optimiser/clip_gradients.h"
#include "learner/optimiser/parameter_bytes.h"
#include "learner/world/require_finite.h"

namespace regraft::learner {
namespace {

using nn::training::DynamicsLosses;
using torch::Tensor;

constexpr double kLargestGradient = 1;
constexpr double kAllOwnAt = 0.5;  // of the updates: until then ever more sequences are told own latents
constexpr std::size_t kHeldOutLanes = 64;
// A mask is a mean over rules that are seldom legal: what counts is that all of a state's are right.
constexpr double kMaskWeight = 10;

std::vector<nn::TensorSpec> embedding_layout(const nn::WorldModelConfig& config) {
  auto layout = nn::dynamics_layout(config);
  layout.erase(layout.begin(), layout.end() - 2);
  const std::size_t first = layout.front().offset;
  for (nn::TensorSpec& spec : layout) spec.offset -= first;
  return layout;
}

nn::Weights random_matrices(std::vector<nn::TensorSpec> layout, std::uint64_t seed, double gain) {
  nn::Weights weights{std::move(layout), {}};
  weights.values.assign(weights.tensors.back().offset + weights.tensors.back().count, 0.0f);
  for (const nn::TensorSpec& spec : weights.tensors) {
    if (spec.shape.size() == 1) continue;
    Rng rng(seed, "dynamics fit/" + spec.name);
    const double bound = gain > 0 ? gain : std::sqrt(3.0 / static_cast<double>(spec.shape[0]));
    for (float& value : weights.tensor(spec.name)) value = static_cast<float>(rng.uniform(-bound, bound));
  }
  return weights;
}

DynamicsFigures figures(const std::vector<double>& v) {
  return {v[0], v[1], v[2], v[3], v[4]};
}

}  // namespace

DynamicsFit::DynamicsFit(const nn::WorldModelConfig& config, const LatentData& data,
                         const WorldOptions& options, const WorkShare& work)
    : config_(config),
      data_(data),
      options_(options),
      work_(work),
      model_(config.dynamics, data.device()),
      embedding_(embedding_layout(config), data.device(), torch::kFloat32),
      model_adam_(model_.parameters().values(), options.learning_rate),
      embedding_adam_(embedding_.values(), options.learning_rate) {
  model_.load(nn::initial_weights(config.dynamics, options.seed));
  embedding_.load(random_matrices(embedding_layout(config), options.seed, 0.5));
  if (config.reward_hidden == 0) return;
  reward_.emplace(nn::reward_layout(config), data.device(), torch::kFloat32);
  reward_->load(random_matrices(nn::reward_layout(config), options.seed, 0));
  reward_adam_.emplace(reward_->values(), options.reward_learning_rate);
}

Tensor DynamicsFit::actions(const Tensor& rule, const Tensor& location) const {
  return torch::embedding(embedding_["action.xfer"], rule) +
         torch::embedding(embedding_["action.location"], location);
}

Tensor DynamicsFit::total(const DynamicsLosses& l) const {
  return l.latent + l.reward + l.terminal + kMaskWeight * l.rules + l.counts;
}

/// This learner's.
LatentBatch DynamicsFit::own_lanes(const LatentBatch& all) const {
  const auto own = [&](const Tensor& of) { return work_.part_of(of, 1); };
  const nn::training::DynamicsTargets& targets = all.targets;
  return {own(all.z),
          own(all.rule),
          own(all.location),
          own(all.starts),
          {own(targets.valid), own(targets.latent), own(targets.reward), own(targets.terminal),
           own(targets.rules), own(targets.counts)}};
}

/// This share of the lanes is told latents that the model draws: what it is fitted to is then what it will be
/// asked in a dream (Bengio et al. 2015). The environment is deterministic, so the targets stay true. This
/// learner's alone; what is drawn for a lane is the same for any number of learners.
void DynamicsFit::dream_some(LatentBatch& batch, double share, Rng& rng) const {
  const auto lanes = static_cast<std::int64_t>(std::lround(share * static_cast<double>(batch.z.size(1))));
  if (lanes == 0) return;
  const torch::NoGradGuard no_grad;
  const auto some = [&](const Tensor& all) { return work_.part_of(all.narrow(1, 0, lanes), 1); };
  const Tensor action = actions(some(batch.rule), some(batch.location));
  const nn::training::LatentDraws draws = model_.draws(batch.z.size(0), lanes, rng);
  some(batch.z).copy_(model_.sampled_latents(some(batch.z), action, some(batch.starts),
                                             {some(draws.shares), some(draws.deviations)}));
}

DynamicsFigures DynamicsFit::update(std::uint64_t number, std::uint64_t rate_at) {
  Rng rng(options_.seed, "dynamics update " + std::to_string(number));
  LatentBatch batch = data_.draw(data_.data().train(), rng);
  const double done = static_cast<double>(rate_at) / static_cast<double>(options_.dynamics_updates);
  dream_some(batch, options_.scheduled_sampling * std::min(1.0, done / kAllOwnAt), rng);
  const LatentBatch own = own_lanes(batch);
  const auto output = model_.unroll(own.z, actions(own.rule, own.location), own.starts);
  const DynamicsLosses losses = nn::training::losses(output, own.targets, &batch.targets);
  model_.parameters().gradients().zero_();
  embedding_.gradients().zero_();
  total(losses).backward();
  work_.add_up({model_.parameters().gradients(), embedding_.gradients(), losses.latent.detach(),
                losses.reward.detach(), losses.terminal.detach(), losses.rules.detach(),
                losses.counts.detach()});
  const Tensor norm =
      clip_gradients({model_.parameters().gradients(), embedding_.gradients()}, kLargestGradient);
  const auto read = nn::training::to_host(
      {losses.latent, losses.reward, losses.terminal, losses.rules, losses.counts, norm});
  require_finite(read.back(), "dynamics", number, "world.learning_rate");
  const double learning_rate = decayed_rate(options_, rate_at);
  model_adam_.set_learning_rate(learning_rate);
  embedding_adam_.set_learning_rate(learning_rate);
  model_adam_.step(model_.parameters().gradients());
  embedding_adam_.step(embedding_.gradients());
  return figures(read);
}

std::vector<LatentBatch> DynamicsFit::held_out_batches() const {
  std::vector<LatentBatch> batches;
  const auto& all = data_.data().held_out();
  for (std::size_t first = 0; first < all.size(); first += kHeldOutLanes) {
    const std::size_t lanes = std::min(kHeldOutLanes, all.size() - first);
    const auto part = std::span(all).subspan(first, lanes);
    std::uint32_t longest = 1;
    for (const std::size_t i : part) longest = std::max(longest, data_.data().episodes()[i].length());
    batches.push_back(data_.lanes_of(part, longest));
  }
  return batches;
}

DynamicsFigures DynamicsFit::held_out() const {
  const torch::NoGradGuard no_grad;
  DynamicsFigures sum;
  double steps = 0, going_on = 0, legal = 0;
  for (const LatentBatch& batch : held_out_batches()) {
    const auto output = model_.unroll(batch.z, actions(batch.rule, batch.location), batch.starts);
    const DynamicsLosses l = nn::training::losses(output, batch.targets);
    const Tensor on = batch.targets.valid * (1 - batch.targets.terminal);
    const auto read =
        nn::training::to_host({l.latent, l.reward, l.terminal, l.rules, l.counts, batch.targets.valid.sum(),
                               on.sum(), (batch.targets.rules * on.unsqueeze(-1)).sum()});
    const DynamicsFigures f = figures(read);
    const double n = read[5], m = read[6], k = read[7];
    sum.latent += m * f.latent;
    sum.rules += m * f.rules;
    sum.counts += k * f.counts;
    sum.reward += n * f.reward;
    sum.terminal += n * f.terminal;
    steps += n;
    going_on += m;
    legal += k;
  }
  const auto share = [](double value, double weight) { return value / std::max(weight, 1.0); };
  return {share(sum.latent, going_on), share(sum.reward, steps), share(sum.terminal, steps),
          share(sum.rules, going_on), share(sum.counts, legal)};
}

Tensor DynamicsFit::predicted_reward(const LatentBatch& batch) const {
  Tensor hidden;
  {
    const torch::NoGradGuard no_grad;
    hidden = model_.unroll_hidden(batch.z, actions(batch.rule, batch.location), batch.starts);
  }
  const auto& p = *reward_;
  const Tensor inputs = torch::cat({batch.z, hidden}, 2);
  const Tensor middle = (torch::matmul(inputs, p["reward.weight1"]) + p["reward.bias1"]).relu();
  return (torch::matmul(middle, p["reward.weight2"]) + p["reward.bias2"]).squeeze(-1);
}

double DynamicsFit::reward_update(std::uint64_t number) {
  Rng rng(options_.seed, "reward update " + std::to_string(number));
  LatentBatch batch = data_.draw(data_.data().train(), rng);
  dream_some(batch, options_.scheduled_sampling, rng);
  const LatentBatch own = own_lanes(batch);
  const Tensor error = (predicted_reward(own) - own.targets.reward).square() * own.targets.valid;
  const Tensor loss = error.sum() / batch.targets.valid.sum().clamp_min(1);
  reward_->gradients().zero_();
  loss.backward();
  work_.add_up({reward_->gradients(), loss.detach()});
  const auto read = nn::training::to_host({loss, reward_->gradients().norm()});
  require_finite(read.back(), "rewards", number, "world.reward_learning_rate");
  reward_adam_->step(reward_->gradients());
  return read.front();
}

double DynamicsFit::reward_held_out() const {
  const torch::NoGradGuard no_grad;
  double sum = 0, steps = 0;
  for (const LatentBatch& batch : held_out_batches()) {
    const Tensor error = (predicted_reward(batch) - batch.targets.reward).square() * batch.targets.valid;
    sum += error.sum().item<double>();
    steps += batch.targets.valid.sum().item<double>();
  }
  return sum / std::max(steps, 1.0);
}

nn::Weights DynamicsFit::dynamics() const {
  nn::Weights weights{nn::dynamics_layout(config_), model_.store().values};
  const nn::Weights embedding = embedding_.store();
  weights.values.insert(weights.values.end(), embedding.values.begin(), embedding.values.end());
  return weights;
}

nn::Weights DynamicsFit::reward() const {
  return reward_ ? reward_->store() : nn::Weights{};
}

void DynamicsFit::write(replay::ByteWriter& out) const {
  const nn::Weights model = model_.store();
  out.raw(std::as_bytes(std::span(model.values)));
  model_adam_.write(out);
  write_values(embedding_, out);
  embedding_adam_.write(out);
  if (!reward_) return;
  write_values(*reward_, out);
  reward_adam_->write(out);
}

void DynamicsFit::read(replay::ByteReader& in) {
  read_values(model_.parameters(), in);
  model_adam_.restore(model_adam_.read(in));
  read_values(embedding_, in);
  embedding_adam_.restore(embedding_adam_.read(in));
  if (!reward_) return;
  read_values(*reward_, in);
  reward_adam_->restore(reward_adam_->read(in));
}

}
