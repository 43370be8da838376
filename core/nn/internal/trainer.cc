#include "core/nn/internal/trainer.h"

#include <ATen/Parallel.h>

#include <optional>

#include "core/nn/error.h"
#include "core/nn/internal/fused_model.h"

namespace regraft::nn::internal {
namespace {

using torch::Tensor;

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(Network& network, const env::RuleFeatureTable& rules)
      : network_(network),
        rules_(rule_tensor(rules, network.device(), network.type())),
        rule_count_(rules.rule_count) {}

  TrainerOutput forward(std::span<const env::Observation* const> observations, Gradients gradients) override {
    const torch::AutoGradMode mode(gradients == Gradients::wanted);
    batch_.emplace(make_batch(observations, network_.config().node_kinds, rule_count_), network_.device(),
                   network_.type());
    const auto output = network_.forward(*batch_, rules_);
    return {output.log_probabilities, output.values, batch_->candidate_graph, batch_->host.candidate_offsets};
  }
  void backward(const Tensor& loss) override { loss.backward(); }

 private:
  Network& network_;
  Tensor rules_;
  std::size_t rule_count_;
  std::optional<BatchTensors> batch_;
};

/// Scores and values come from the kernels as leaves of autograd; their gradients go back into the kernels.
/// Graphs are shared among LibTorch's threads in a fixed way, so results depend on the number of threads
/// alone.
class FusedTrainer : public Trainer {
 public:
  FusedTrainer(Network& network, const env::RuleFeatureTable& rules, FusedKernels kernels)
      : network_(network),
        rules_(rule_tensor(rules, network.device())),
        rule_count_(rules.rule_count),
        kernels_(kernels),
        model_(network.config()) {}

  TrainerOutput forward(std::span<const env::Observation* const> observations, Gradients gradients) override;
  void backward(const Tensor& loss) override;

 private:
  void load_weights(Gradients gradients);
  void index(std::span<const env::Observation* const> observations);
  /// Graphs [first, second) of a slice.
  std::pair<std::size_t, std::size_t> slice(std::size_t number, std::size_t slices) const {
    return {graphs_.size() * number / slices, graphs_.size() * (number + 1) / slices};
  }
  std::size_t slices() const {
    return std::min<std::size_t>(static_cast<std::size_t>(at::get_num_threads()), graphs_.size());
  }
  template <typename Work>
  void each_slice(const Work& work) {
    const std::size_t count = slices();
    at::parallel_for(0, static_cast<std::int64_t>(count), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto number = begin; number < end; ++number) work(static_cast<std::size_t>(number), count);
    });
  }

  Network& network_;
  Tensor rules_;
  std::size_t rule_count_;
  FusedKernels kernels_;
  FusedModel model_;
  std::vector<FusedGraph> graphs_;
  std::vector<FusedArena> arenas_;
  std::vector<FusedGradientArena> scratch_;  // one a slice
  std::vector<std::vector<float>> sums_;     // one a slice
  std::vector<float> transposed_;
  std::vector<std::int32_t> offsets_;
  RowMap candidate_graph_;
  Tensor rule_rows_, scores_, values_;
};

void FusedTrainer::load_weights(Gradients gradients) {
  const torch::AutoGradMode mode(gradients == Gradients::wanted);
  rule_rows_ = network_.rule_rows(rules_).contiguous();
  model_.set_rule_rows({rule_rows_.data_ptr<float>(), static_cast<std::size_t>(rule_rows_.numel())});
  const auto& parameters = network_.parameters();
  model_.set_weights({parameters.data_ptr<float>(), static_cast<std::size_t>(parameters.numel())});
  if (gradients == Gradients::wanted) transposed_ = model_.transposed();
}

void FusedTrainer::index(std::span<const env::Observation* const> observations) {
  if (observations.empty()) throw NnError("an empty batch", "trainer", "give at least one observation");
  graphs_.clear();
  offsets_.assign(1, 0);
  std::vector<std::int32_t> group;
  for (const auto* observation : observations) {
    check(*observation, network_.config().node_kinds, rule_count_);
    group.resize(group.size() + observation->candidate_count(), static_cast<std::int32_t>(graphs_.size()));
    graphs_.push_back(fused_graph(*observation));
    offsets_.push_back(static_cast<std::int32_t>(group.size()));
  }
  candidate_graph_ = make_row_map(std::move(group), graphs_.size());
}

TrainerOutput FusedTrainer::forward(std::span<const env::Observation* const> observations,
                                    Gradients gradients) {
  index(observations);
  load_weights(gradients);
  const bool taped = gradients == Gradients::wanted;
  if (arenas_.size() < graphs_.size()) arenas_.resize(graphs_.size());
  scores_ = torch::empty({offsets_.back()});
  values_ = torch::empty({static_cast<std::int64_t>(graphs_.size())});
  float* scores = scores_.data_ptr<float>();
  float* values = values_.data_ptr<float>();
  each_slice([&](std::size_t number, std::size_t count) {
    const auto [first, last] = slice(number, count);
    for (std::size_t i = first; i < last; ++i) {
      // Without a tape one arena serves the whole slice and stays in the cache.
      auto& arena = arenas_[taped ? i : number];
      const FusedRows& rows = arena.prepare(graphs_[i], model_.config(), taped ? Tape::kept : Tape::none);
      kernels_.forward(model_.weights(), graphs_[i], rows);
      std::copy_n(rows.scores, graphs_[i].candidates, scores + offsets_[i]);
      values[i] = *rows.value;
    }
  });
  scores_.requires_grad_(taped);
  values_.requires_grad_(taped);
  const torch::AutoGradMode mode(taped);
  const Rows rows = to_rows(candidate_graph_, torch::kCPU);
  return {segment_log_softmax(scores_, rows), values_, rows, offsets_};
}

void FusedTrainer::backward(const Tensor& loss) {
  loss.backward();
  const auto or_zero = [](const Tensor& leaf) {
    return leaf.grad().defined() ? leaf.grad().contiguous() : torch::zeros_like(leaf);
  };
  const Tensor score_gradients = or_zero(scores_), value_gradients = or_zero(values_);
  const float* scores = score_gradients.data_ptr<float>();
  const float* values = value_gradients.data_ptr<float>();
  sums_.resize(slices());
  scratch_.resize(slices());
  each_slice([&](std::size_t number, std::size_t count) {
    sums_[number].assign(model_.size(), 0.0f);
    const auto [first, last] = slice(number, count);
    for (std::size_t i = first; i < last; ++i) {
      FusedGradients gradients{};
      gradients.weights = model_.buffer();
      gradients.transposed = transposed_.data();
      gradients.sums = sums_[number].data();
      gradients.scores = scores + offsets_[i];
      gradients.value = values[i];
      scratch_[number].prepare(graphs_[i], model_.config().width, gradients);
      kernels_.backward(model_.weights(), graphs_[i], arenas_[i].rows(), gradients);
    }
  });
  for (std::size_t number = 1; number < sums_.size(); ++number) {
    for (std::size_t i = 0; i < sums_[0].size(); ++i) sums_[0][i] += sums_[number][i];
  }
  auto& flat = network_.gradients();
  model_.add_flat_gradients(sums_[0], {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())});
  const auto rule_part = model_.rule_part(sums_[0]);
  rule_rows_.backward(
      torch::from_blob(const_cast<float*>(rule_part.data()), rule_rows_.sizes(), torch::kFloat32));
}

}  // namespace

std::unique_ptr<Trainer> make_trainer(Network& network, const env::RuleFeatureTable& rules, Engine engine) {
  const FusedKernels kernels = best_kernels(network.config().width);
  const bool possible =
      kernels.forward != nullptr && network.device().is_cpu() && network.type() == torch::kFloat32;
  if (engine == Engine::fused && !possible) {
    throw NnError("the fused engine has no kernel for this width, device or type", "engine",
                  "use engine = automatic");
  }
  if (engine == Engine::torch || !possible) return std::make_unique<TorchTrainer>(network, rules);
  return std::make_unique<FusedTrainer>(network, rules, kernels);
}

}  // namespace regraft::nn::internal
