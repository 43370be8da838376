#include "core/nn/training/embedding_trainer.h"

#include <ATen/Parallel.h>

#include <optional>

#include "core/nn/fused/fused_model.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/network.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

class TorchEmbeddingTrainer : public EmbeddingTrainer {
 public:
  TorchEmbeddingTrainer(const NetworkConfig& config, torch::Device device) : network_(config, device) {}

  Tensor forward(std::span<const env::Observation* const> observations, const Tensor& weights) override {
    check_graphs(observations, network_.config().node_kinds);
    {
      const torch::NoGradGuard no_grad;
      network_.parameters().copy_(weights);
    }
    const std::size_t rules = observations.front()->location_counts.size() - 1;
    batch_.emplace(make_batch(observations, network_.config().node_kinds, rules), network_.device());
    embeddings_ = network_.encode(*batch_).globals;
    leaf_ = embeddings_.detach().requires_grad_(true);
    return leaf_;
  }
  void backward(Tensor gradients) override {
    network_.gradients().zero_();
    if (leaf_.grad().defined()) embeddings_.backward(leaf_.grad());
    gradients.add_(network_.gradients());
  }

 private:
  Network network_;
  std::optional<BatchTensors> batch_;
  Tensor embeddings_, leaf_;
};

/// Graphs are shared among LibTorch's threads in a fixed way, so results depend on the number of threads
/// alone.
class FusedEmbeddingTrainer : public EmbeddingTrainer {
 public:
  FusedEmbeddingTrainer(const NetworkConfig& config, internal::FusedKernels kernels)
      : kernels_(kernels), model_(config) {
    model_.set_rule_rows(std::vector<float>(config.width, 0.0f));
  }

  Tensor forward(std::span<const env::Observation* const> observations, const Tensor& weights) override;
  void backward(Tensor gradients) override;

 private:
  std::size_t width() const { return model_.config().width; }
  template <typename Work>
  void each_slice(const Work& work) {
    const auto slices = std::min(static_cast<std::size_t>(at::get_num_threads()), graphs_.size());
    sums_.resize(slices);
    scratch_.resize(slices);
    at::parallel_for(0, static_cast<std::int64_t>(slices), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto slice = static_cast<std::size_t>(begin); slice < static_cast<std::size_t>(end); ++slice)
        work(slice, graphs_.size() * slice / slices, graphs_.size() * (slice + 1) / slices);
    });
  }

  internal::FusedKernels kernels_;
  internal::FusedModel model_;
  std::vector<internal::FusedGraph> graphs_;
  std::vector<internal::FusedArena> arenas_;
  std::vector<internal::FusedGradientArena> scratch_;  // one a slice
  std::vector<internal::AlignedFloats> sums_;          // one a slice
  internal::AlignedFloats transposed_;
  Tensor leaf_;
};

std::span<float> values_of(const Tensor& flat) {
  return {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())};
}

Tensor FusedEmbeddingTrainer::forward(std::span<const env::Observation* const> observations,
                                      const Tensor& weights) {
  check_graphs(observations, model_.config().node_kinds);
  model_.set_weights(values_of(weights));
  transposed_ = model_.transposed();
  graphs_.clear();
  for (const env::Observation* observation : observations) {
    graphs_.push_back(internal::fused_graph(*observation));
    graphs_.back().candidates = 0;  // nobody asks for their scores
  }
  if (arenas_.size() < graphs_.size()) arenas_.resize(graphs_.size());
  leaf_ = torch::empty({static_cast<std::int64_t>(graphs_.size()), static_cast<std::int64_t>(width())});
  float* rows = leaf_.data_ptr<float>();
  each_slice([&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const internal::FusedRows& held = arenas_[i].prepare(graphs_[i], model_.config(), internal::Tape::kept);
      kernels_.forward(model_.weights(), graphs_[i], held);
      std::copy_n(held.step[model_.config().steps - 1].globals_to, width(), rows + i * width());
    }
  });
  leaf_.requires_grad_(true);
  return leaf_;
}

void FusedEmbeddingTrainer::backward(Tensor gradients) {
  if (!leaf_.grad().defined()) return;
  const Tensor held = leaf_.grad().contiguous();
  const float* rows = held.data_ptr<float>();
  each_slice([&](std::size_t slice, std::size_t first, std::size_t last) {
    sums_[slice].assign(model_.size(), 0.0f);
    for (std::size_t i = first; i < last; ++i) {
      internal::FusedGradients own{};
      own.weights = model_.buffer();
      own.transposed = transposed_.data();
      own.sums = sums_[slice].data();
      own.globals = rows + i * width();
      scratch_[slice].prepare(graphs_[i], width(), own);
      kernels_.backward(model_.weights(), graphs_[i], arenas_[i].rows(), own);
    }
  });
  for (std::size_t slice = 1; slice < sums_.size(); ++slice)
    for (std::size_t i = 0; i < sums_[0].size(); ++i) sums_[0][i] += sums_[slice][i];
  model_.add_flat_gradients(sums_[0], values_of(gradients));
}

}  // namespace

std::unique_ptr<EmbeddingTrainer> make_embedding_trainer(const NetworkConfig& config, torch::Device device,
                                                         Engine engine) {
  check(config);
  const internal::FusedKernels kernels = internal::best_kernels(config);
  const bool possible = kernels.forward != nullptr && device.is_cpu();
  if (engine == Engine::fused && !possible)
    throw NnError("the fused engine has no kernel for this width or device", "engine",
                  "use engine = automatic");
  if (engine == Engine::torch || !possible) return std::make_unique<TorchEmbeddingTrainer>(config, device);
  return std::make_unique<FusedEmbeddingTrainer>(config, kernels);
}

void check_graphs(std::span<const env::Observation* const> observations, std::uint32_t node_kinds) {
  if (observations.empty()) throw NnError("an empty batch", "encoder", "give at least one observation");
  for (const env::Observation* observation : observations) {
    if (observation->location_counts.empty()) throw NnError("it has no candidates", "observation", "");
    check(*observation, node_kinds, observation->location_counts.size() - 1);
  }
}

}
