#include "core/nn/inference/encoder.h"

#include "core/nn/fused/fused_model.h"
#include "core/nn/inference/device.h"
#include "core/nn/training/embedding_trainer.h"
#include "core/nn/training/network.h"

namespace regraft::nn {
namespace {

/// Graph embeddings of observations, one row of the network's width each.
class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual void embed(std::span<const env::Observation* const> observations, std::vector<float>& rows) = 0;
};

class FusedEmbedder : public Embedder {
 public:
  FusedEmbedder(const NetworkConfig& config, std::span<const float> weights, internal::FusedForward forward)
      : model_(config), forward_(forward) {
    model_.set_weights(weights);
    model_.set_rule_rows(std::vector<float>(config.width, 0.0f));
  }

  void embed(std::span<const env::Observation* const> observations, std::vector<float>& rows) override {
    training::check_graphs(observations, model_.config().node_kinds);
    for (const env::Observation* observation : observations) {
      internal::FusedGraph graph = internal::fused_graph(*observation);
      graph.candidates = 0;  // nobody asks for their scores
      const internal::FusedRows& held = arena_.prepare(graph, model_.config(), internal::Tape::none);
      forward_(model_.weights(), graph, held);
      const float* embedding = held.step[model_.config().steps - 1].globals_to;
      rows.insert(rows.end(), embedding, embedding + model_.config().width);
    }
  }

 private:
  internal::FusedModel model_;
  internal::FusedForward forward_;
  internal::FusedArena arena_;
};

class TorchEmbedder : public Embedder {
 public:
  TorchEmbedder(const NetworkConfig& config, const Weights& weights, torch::Device device)
      : network_(config, device) {
    network_.load(weights);
  }

  void embed(std::span<const env::Observation* const> observations, std::vector<float>& rows) override {
    training::check_graphs(observations, network_.config().node_kinds);
    const torch::InferenceMode inference;
    const std::size_t rules = observations.front()->location_counts.size() - 1;
    const training::BatchTensors batch(make_batch(observations, network_.config().node_kinds, rules),
                                       network_.device());
    const torch::Tensor globals = network_.encode(batch).globals.cpu().contiguous();
    rows.insert(rows.end(), globals.data_ptr<float>(), globals.data_ptr<float>() + globals.numel());
  }

 private:
  training::Network network_;
};

}  // namespace

class Encoder::State {
 public:
  State(const WorldModelConfig& config, const Weights& encoder, const LatentStatistics& latents,
        const PolicyOptions& options)
      : width_(config.encoder.width), latent_(config.dynamics.latent), latents_(latents) {
    if (encoder.tensors != encoder_layout(config) || latents.mean.size() != latent_ ||
        latents.sd.size() != latent_)
      throw NnError("weights and statistics do not fit the config", "encoder", "use those of one fit");
    Weights graph{weight_layout(config.encoder), {}};
    const std::size_t size = graph.tensors.back().offset + graph.tensors.back().count;
    graph.values.assign(encoder.values.begin(), encoder.values.begin() + static_cast<std::ptrdiff_t>(size));
    check(graph, config.encoder);
    const auto weight = encoder.tensor("latent.weight"), bias = encoder.tensor("latent.bias");
    weight_.assign(weight.begin(), weight.end());
    bias_.assign(bias.begin(), bias.end());
    const internal::FusedForward forward = internal::best_kernels(config.encoder).forward;
    const torch::Device device(resolve_device(options.device));
    const bool possible = forward != nullptr && device.is_cpu();
    if (options.engine == Engine::fused && !possible)
      throw NnError("the fused engine has no kernel for this width or device", "engine",
                    "use engine = automatic");
    if (options.engine == Engine::torch || !possible)
      embedder_ = std::make_unique<TorchEmbedder>(config.encoder, graph, device);
    else
      embedder_ = std::make_unique<FusedEmbedder>(config.encoder, graph.values, forward);
  }

  std::vector<float> encode(std::span<const env::Observation* const> observations) {
    rows_.clear();
    if (!observations.empty()) embedder_->embed(observations, rows_);
    std::vector<float> latents;
    latents.reserve(observations.size() * latent_);
    for (std::size_t row = 0; row < observations.size(); ++row) {
      const float* embedding = rows_.data() + row * width_;
      for (std::size_t d = 0; d < latent_; ++d) {
        float sum = bias_[d];
        for (std::size_t k = 0; k < width_; ++k) sum += embedding[k] * weight_[k * latent_ + d];
        latents.push_back((sum - latents_.mean[d]) / latents_.sd[d]);
      }
    }
    return latents;
  }

 private:
  std::size_t width_, latent_;
  LatentStatistics latents_;
  std::vector<float> weight_, bias_, rows_;
  std::unique_ptr<Embedder> embedder_;
};

Encoder::Encoder(const WorldModelConfig& config, const Weights& encoder, const LatentStatistics& latents,
                 const PolicyOptions& options)
    : state_(std::make_unique<State>(config, encoder, latents, options)) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::vector<float> Encoder::encode(std::span<const env::Observation* const> observations) {
  return state_->encode(observations);
}

std::vector<float> Encoder::encode(const env::Observation& observation) {
  const env::Observation* one[] = {&observation};
  return state_->encode(one);
}

}
