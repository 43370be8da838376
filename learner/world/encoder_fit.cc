#include "learner/world/encoder_fit.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/nn/inference/device.h"
#include "core/nn/training/device_tensor.h"
#include "learner/optimiser/clip_gradients.h"
#include "learner/optimiser/parameter_bytes.h"
#include "learner/world/require_finite.h"

namespace regraft::learner {
namespace {

using torch::Tensor;

constexpr std::int64_t kHeadWidth = 128;
constexpr std::uint32_t kWindow = 8;  // consecutive steps taken from an episode
constexpr double kGradientNorm = 1;
// Weights of the losses in their sum: a mask is a mean over many rules that are seldom legal.
constexpr double kRuleWeight = 10, kCountWeight = 1, kCostWeight = 1, kChangeWeight = 1, kNextWeight = 1;
constexpr double kSpreadWeight = 1;

std::vector<nn::TensorSpec> fit_layout(const nn::WorldModelConfig& config) {
  auto layout = nn::encoder_layout(config);
  const std::int64_t z = config.dynamics.latent, a = config.dynamics.action, x = config.dynamics.rules;
  const auto head = [&](const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    nn::append_tensor(layout, name + ".weight1", {inputs, kHeadWidth});
    nn::append_tensor(layout, name + ".bias1", {kHeadWidth});
    nn::append_tensor(layout, name + ".weight2", {kHeadWidth, outputs});
    nn::append_tensor(layout, name + ".bias2", {outputs});
  };
  head("cost", z, 1);
  head("xfers", z, x);
  head("counts", z, x * config.dynamics.count_bins);
  head("change", z + a, 1);
  head("next", z + a, z);
  nn::append_tensor(layout, "action.xfer", {x, a});
  nn::append_tensor(layout, "action.location", {config.locations, a});
  return layout;
}

nn::Weights first_weights(const nn::WorldModelConfig& config, std::uint64_t seed) {
  nn::Weights weights{fit_layout(config), {}};
  weights.values.assign(weights.tensors.back().offset + weights.tensors.back().count, 0.0f);
  const nn::Weights graph = nn::initial_weights(config.encoder, seed);
  std::copy(graph.values.begin(), graph.values.end(), weights.values.begin());
  for (std::size_t i = graph.tensors.size(); i < weights.tensors.size(); ++i) {
    const nn::TensorSpec& spec = weights.tensors[i];
    if (spec.shape.size() == 1) continue;
    Rng rng(seed, "encoder fit/" + spec.name);
    const double bound =
        spec.name.starts_with("action.") ? 0.5 : std::sqrt(3.0 / static_cast<double>(spec.shape[0]));
    for (float& value : weights.tensor(spec.name)) value = static_cast<float>(rng.uniform(-bound, bound));
  }
  return weights;
}

float deviation(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  const double n = std::max<double>(static_cast<double>(values.size()), 1);
  return static_cast<float>(std::max(std::sqrt(std::max(squares / n - sum / n * sum / n, 0.0)), 1e-6));
}

Tensor huber_mean(const Tensor& prediction, const Tensor& target) {
  return prediction.numel() == 0 ? torch::zeros({}, prediction.options())
                                 : torch::huber_loss(prediction, target);
}

}  // namespace

struct EncoderFit::Batch {
  std::vector<env::Observation> observations;                // this learner's
  Tensor own;                                                // their rows among all states
  Tensor cost, rules, counts;                                // [states], [states, rules] twice
  Tensor peek_state, peek_rule, peek_location, peek_change;  // [peeks]
  Tensor from, to, step_rule, step_location;                 // [steps]: rows of states
};

struct EncoderFit::Losses {
  Tensor cost, rules, counts, change, next, spread, total;

  /// All, and one more number of the device, in one transfer.
  std::pair<EncoderLosses, double> read(const Tensor& more) const {
    const auto v = nn::training::to_host({cost, rules, counts, change, next, spread, total, more});
    return {{v[0], v[1], v[2], v[3], v[4], v[5], v[6]}, v[7]};
  }
};

EncoderFit::EncoderFit(const nn::WorldModelConfig& config, const WorldData& data, const WorldOptions& options,
                       const WorkShare& work, const nn::PolicyOptions& compute)
    : config_(config),
      data_(data),
      options_(options),
      work_(work),
      graph_values_(static_cast<std::int64_t>(nn::initial_weights(config.encoder, 0).values.size())),
      device_(nn::resolve_device(compute.device)),
      parameters_(fit_layout(config), device_, torch::kFloat32),
      adam_(parameters_.values(), options.encoder_learning_rate),
      embeddings_(nn::training::make_embedding_trainer(config.encoder, device_, compute.engine)) {
  parameters_.load(first_weights(config, options.seed));
  squash_.unit = static_cast<float>(options.reward_unit);
  std::vector<double> costs, changes;
  for (const std::size_t i : data.train())
    for (const StateFacts& state : data.episodes()[i].states) {
      costs.push_back(static_cast<double>(state.log_cost_ratio));
      for (const PeekedAction& peek : state.peeks)
        changes.push_back(static_cast<double>(squash_.squashed(peek.change)));
    }
  cost_deviation_ = deviation(costs);
  change_deviation_ = deviation(changes);
}

/// Windows of episodes until there are enough states; each is one learner's.
EncoderFit::Batch EncoderFit::gather(std::span<const std::size_t> episodes, Rng& rng,
                                     std::uint64_t states) const {
  Batch batch;
  const std::size_t rules = config_.dynamics.rules;
  std::vector<float> cost, legal, changes;
  std::vector<std::int64_t> own, bins, peek_state, peek_rule, peek_location, from, to, step_rule,
      step_location;
  for (std::size_t window = 0; cost.size() < states; ++window) {
    const std::size_t index = episodes[rng.below(episodes.size())];
    const WorldEpisode& episode = data_.episodes()[index];
    std::vector<env::Observation> held;
    if (work_.has(window)) held = data_.observations(index);
    const auto first = static_cast<std::uint32_t>(rng.below(episode.length()));
    const std::uint32_t last = std::min(first + kWindow, episode.length());
    for (std::uint32_t t = first; t <= last; ++t) {
      const auto row = static_cast<std::int64_t>(cost.size());
      const StateFacts& state = episode.states[t];
      cost.push_back(state.log_cost_ratio / cost_deviation_);
      for (const std::uint16_t rule : data_.rules()) {
        const std::uint16_t count = state.counts[rule];
        legal.push_back(count > 0 ? 1.0f : 0.0f);
        bins.push_back(count > 0 ? nn::count_bin(count, config_.dynamics.count_bins) : 0);
      }
      for (const PeekedAction& peek : state.peeks) {
        peek_state.push_back(row);
        peek_rule.push_back(data_.row_of(peek.rule));
        peek_location.push_back(std::min<std::int64_t>(peek.location, config_.locations - 1));
        changes.push_back(squash_.squashed(peek.change) / change_deviation_);
      }
      const bool goes_on = t < last && episode.actions[t].rule != data_.rule_count();
      if (goes_on) {
        from.push_back(row);
        to.push_back(row + 1);
        step_rule.push_back(data_.row_of(episode.actions[t].rule));
        step_location.push_back(std::min<std::int64_t>(episode.actions[t].location, config_.locations - 1));
      }
      if (held.empty()) continue;
      own.push_back(row);
      batch.observations.push_back(std::move(held[t]));
    }
  }
  const auto count = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const std::int64_t rows = count(cost), columns = static_cast<std::int64_t>(rules);
  const auto tensor_of = [&](const auto& values, at::IntArrayRef shape) {
    return nn::training::copied(values, shape, device_);
  };
  batch.own = tensor_of(own, {count(own)});
  batch.cost = tensor_of(cost, {rows});
  batch.rules = tensor_of(legal, {rows, columns});
  batch.counts = tensor_of(bins, {rows, columns});
  batch.peek_state = tensor_of(peek_state, {count(peek_state)});
  batch.peek_rule = tensor_of(peek_rule, {count(peek_rule)});
  batch.peek_location = tensor_of(peek_location, {count(peek_location)});
  batch.peek_change = tensor_of(changes, {count(changes)});
  batch.from = tensor_of(from, {count(from)});
  batch.to = tensor_of(to, {count(to)});
  batch.step_rule = tensor_of(step_rule, {count(step_rule)});
  batch.step_location = tensor_of(step_location, {count(step_location)});
  return batch;
}

Tensor EncoderFit::layer(const Tensor& x, const std::string& name) const {
  return torch::addmm(parameters_[name + ".bias1"], x, parameters_[name + ".weight1"]).relu();
}

Tensor EncoderFit::head(const Tensor& x, const std::string& name) const {
  return torch::addmm(parameters_[name + ".bias2"], layer(x, name), parameters_[name + ".weight2"]);
}

Tensor EncoderFit::action(const Tensor& rules, const Tensor& locations) const {
  return torch::embedding(parameters_["action.xfer"], rules) +
         torch::embedding(parameters_["action.location"], locations);
}

EncoderFit::Losses EncoderFit::losses(const Batch& batch, const Tensor& embedding) const {
  const Tensor z = torch::addmm(parameters_["latent.bias"], embedding, parameters_["latent.weight"]);
  const std::int64_t rows = z.size(0), latent = z.size(1);
  Losses l;
  l.cost = huber_mean(head(z, "cost").squeeze(1), batch.cost);
  l.rules = torch::binary_cross_entropy_with_logits(head(z, "xfers"), batch.rules);
  const Tensor bins = torch::log_softmax(
      head(z, "counts").view({rows, config_.dynamics.rules, config_.dynamics.count_bins}), -1);
  const Tensor nats = -bins.gather(-1, batch.counts.unsqueeze(-1)).squeeze(-1);
  l.counts = (nats * batch.rules).sum() / batch.rules.sum().clamp_min(1);
  const Tensor peeked =
      torch::cat({z.index_select(0, batch.peek_state), action(batch.peek_rule, batch.peek_location)}, 1);
  l.change = huber_mean(head(peeked, "change").squeeze(1), batch.peek_change);
  const Tensor before = z.index_select(0, batch.from);
  const Tensor stepped = torch::cat({before, action(batch.step_rule, batch.step_location)}, 1);
  const Tensor error = before + head(stepped, "next") - z.detach().index_select(0, batch.to);
  l.next = error.numel() == 0 ? torch::zeros({}, error.options()) : error.square().mean();
  const Tensor centred = z - z.mean(0);
  const Tensor covariance =
      centred.t().mm(centred) / static_cast<double>(std::max<std::int64_t>(rows - 1, 1));
  const Tensor variance = covariance.diagonal();
  l.spread = ((variance + 1e-4).sqrt() - 1).square().mean() +
             (covariance.square().sum() - variance.square().sum()) / static_cast<double>(latent * latent);
  l.total = kCostWeight * l.cost + kRuleWeight * l.rules + kCountWeight * l.counts +
            kChangeWeight * l.change + kNextWeight * l.next + kSpreadWeight * l.spread;
  return l;
}

namespace {

std::vector<const env::Observation*> pointers(const std::vector<env::Observation>& observations) {
  std::vector<const env::Observation*> all;
  for (const env::Observation& observation : observations) all.push_back(&observation);
  return all;
}

}  // namespace

/// Graph embeddings of all states, those of this learner's with gradients.
Tensor EncoderFit::embed(const Batch& batch) {
  Tensor leaf;
  if (!batch.observations.empty())
    leaf = embeddings_->forward(pointers(batch.observations), graph_part(parameters_.values()));
  if (work_.learners() == 1) return leaf;
  const std::int64_t width = config_.encoder.width;
  const Tensor all = torch::zeros({batch.cost.size(0), width}, parameters_.values().options());
  if (leaf.defined()) all.index_copy_(0, batch.own, leaf.detach());
  work_.add_up({all});
  return leaf.defined() ? all.index_copy(0, batch.own, leaf) : all;
}

/// Gradients of all states: of the graph network the sums over the learners, behind it the first one's.
void EncoderFit::backward(const Batch& batch, const Tensor& loss) {
  Tensor& gradients = parameters_.gradients();
  gradients.zero_();
  loss.backward();
  if (!batch.observations.empty()) embeddings_->backward(graph_part(gradients));
  if (work_.rank() > 0) gradients.narrow(0, graph_values_, gradients.numel() - graph_values_).zero_();
  work_.add_up({gradients});
}

EncoderLosses EncoderFit::update(std::uint64_t number, std::uint64_t rate_at) {
  Rng rng(options_.seed, "encoder update " + std::to_string(number));
  const Batch batch = gather(data_.train(), rng, options_.encoder_states);
  const Losses l = losses(batch, embed(batch));
  backward(batch, l.total);
  const auto [figures, norm] = l.read(clip_gradients({parameters_.gradients()}, kGradientNorm));
  require_finite(norm, "encoder", number, "world.encoder_learning_rate");
  const double left = 1 - static_cast<double>(rate_at) / static_cast<double>(options_.encoder_updates);
  adam_.set_learning_rate(options_.encoder_learning_rate * std::max(left, 0.02));
  adam_.step(parameters_.gradients());
  return figures;
}

EncoderLosses EncoderFit::held_out() {
  const torch::NoGradGuard no_grad;
  Rng rng(options_.seed, "encoder held out");
  const Batch batch = gather(data_.held_out(), rng, 2 * options_.encoder_states);
  const Losses l = losses(batch, embed(batch));
  return l.read(l.total).first;
}

nn::Weights EncoderFit::encoder() const {
  const nn::Weights all = parameters_.store();
  nn::Weights encoder{nn::encoder_layout(config_), {}};
  const std::size_t size = encoder.tensors.back().offset + encoder.tensors.back().count;
  encoder.values.assign(all.values.begin(), all.values.begin() + static_cast<std::ptrdiff_t>(size));
  return encoder;
}

std::vector<float> EncoderFit::values() const {
  std::vector<float> values = parameters_.store().values;
  values.insert(values.end(), {cost_deviation_, change_deviation_});
  return values;
}

void EncoderFit::write(replay::ByteWriter& out) const {
  write_values(parameters_, out);
  adam_.write(out);
}

void EncoderFit::read(replay::ByteReader& in) {
  read_values(parameters_, in);
  adam_.restore(adam_.read(in));
}

}
