#include "core/nn/training/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <optional>

#include "core/nn/error.h"
#include "core/nn/internal/fused_model.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

Tensor entropy(const Tensor& log_probabilities, const Rows& rows) {
  return segment_sum((-log_probabilities.exp() * log_probabilities).unsqueeze(1), rows).squeeze(1);
}

Tensor indices(const std::vector<std::int64_t>& values, torch::Device device) {
  return torch::tensor(values, torch::kInt64).to(device);
}

/// Rows of the chosen candidates among all.
std::vector<std::int64_t> chosen_rows(const CandidateGroups& groups, std::span<const std::int32_t> chosen) {
  std::vector<std::int64_t> rows(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    rows[i] = groups.offsets[i] + chosen[i];
    if (chosen[i] < 0 || rows[i] >= groups.offsets[i + 1]) {
      throw NnError("the chosen candidate is not in its observation", "segment", "reject it");
    }
  }
  return rows;
}

/// What the network says of the chosen candidates, from scores [c] and the graphs' embeddings [g, w].
TrainerOutput decisions(const Network& network, const CandidateGroups& groups,
                        const CandidateTensors& tensors, const Tensor& scores, const Tensor& globals,
                        std::span<const std::int32_t> chosen) {
  const auto device = network.device();
  const PolicyOutput output = network.decide(tensors, scores, globals);
  const std::vector<std::int64_t> rows = chosen_rows(groups, chosen);
  TrainerOutput result;
  result.log_probabilities = output.log_probabilities;
  result.first.values = output.values;
  if (network.config().head == Head::pointer) {
    result.first.log_probability = output.log_probabilities.index_select(0, indices(rows, device));
    result.first.entropy = entropy(output.log_probabilities, tensors.graph);
    return result;
  }
  std::vector<std::int64_t> pairs, second_rows, second_pairs, second_graphs, xfers;
  for (std::size_t graph = 0; graph < rows.size(); ++graph) {
    pairs.push_back(groups.pair.group[static_cast<std::size_t>(rows[graph])]);
    const std::int32_t xfer = groups.xfers[static_cast<std::size_t>(pairs.back())];
    if (static_cast<std::uint32_t>(xfer) + 1 == network.config().xfers) continue;  // NO-OP
    second_rows.push_back(rows[graph]);
    second_pairs.push_back(pairs.back());
    second_graphs.push_back(static_cast<std::int64_t>(graph));
    xfers.push_back(xfer);
  }
  result.second_graphs.assign(second_graphs.begin(), second_graphs.end());
  result.first.log_probability = output.xfer_log_probabilities.index_select(0, indices(pairs, device));
  result.first.entropy = entropy(output.xfer_log_probabilities, tensors.pair_graph);
  result.second.log_probability =
      output.location_log_probabilities.index_select(0, indices(second_rows, device));
  result.second.entropy =
      entropy(output.location_log_probabilities, tensors.pair).index_select(0, indices(second_pairs, device));
  result.second.values =
      network.xfer_values(globals.index_select(0, indices(second_graphs, device)), indices(xfers, device));
  return result;
}

void check_count(std::span<const env::Observation* const> observations,
                 std::span<const std::int32_t> chosen) {
  if (observations.empty()) throw NnError("an empty batch", "trainer", "give at least one observation");
  if (observations.size() != chosen.size()) throw NnError("observations and choices differ", "trainer", "");
}

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(Network& network, const env::RuleFeatureTable& rules)
      : network_(network),
        rules_(rule_tensor(rules, network.device(), network.type())),
        rule_count_(rules.rule_count) {}

  TrainerOutput forward(std::span<const env::Observation* const> observations,
                        std::span<const std::int32_t> chosen, Gradients gradients) override {
    check_count(observations, chosen);
    for (const auto* observation : observations) check_actions(network_.config(), observation->action_mode);
    const torch::AutoGradMode mode(gradients == Gradients::wanted);
    batch_.emplace(make_batch(observations, network_.config().node_kinds, rule_count_), network_.device(),
                   network_.type());
    const Encoding encoding = network_.encode(*batch_);
    return decisions(network_, batch_->host.groups, batch_->groups,
                     network_.scores(*batch_, encoding, rules_), encoding.globals, chosen);
  }
  void backward(const Tensor& loss) override { loss.backward(); }

 private:
  Network& network_;
  Tensor rules_;
  std::size_t rule_count_;
  std::optional<BatchTensors> batch_;
};

/// Scores and the graphs' embeddings come from the kernels as leaves of autograd; their gradients go back
/// into the kernels. Graphs are shared among LibTorch's threads in a fixed way, so results depend on the
/// number of threads alone.
class FusedTrainer : public Trainer {
 public:
  FusedTrainer(Network& network, const env::RuleFeatureTable& rules, internal::FusedKernels kernels)
      : network_(network),
        rules_(rule_tensor(rules, network.device())),
        rule_count_(rules.rule_count),
        kernels_(kernels),
        model_(network.config()) {}

  TrainerOutput forward(std::span<const env::Observation* const> observations,
                        std::span<const std::int32_t> chosen, Gradients gradients) override;
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
  internal::FusedKernels kernels_;
  internal::FusedModel model_;
  std::vector<internal::FusedGraph> graphs_;
  std::vector<std::vector<std::uint16_t>> candidate_rules_;  // of the graphs
  std::vector<internal::FusedArena> arenas_;
  std::vector<internal::FusedGradientArena> scratch_;  // one a slice
  std::vector<internal::AlignedFloats> sums_;          // one a slice
  internal::AlignedFloats transposed_;
  CandidateGroups groups_;
  Tensor rule_rows_, scores_, globals_;
};

void FusedTrainer::load_weights(Gradients gradients) {
  const torch::AutoGradMode mode(gradients == Gradients::wanted);
  if (network_.config().head == Head::pointer) {
    rule_rows_ = network_.rule_rows(rules_).contiguous();
    model_.set_rule_rows({rule_rows_.data_ptr<float>(), static_cast<std::size_t>(rule_rows_.numel())});
  }
  const auto& parameters = network_.parameters();
  model_.set_weights({parameters.data_ptr<float>(), static_cast<std::size_t>(parameters.numel())});
  if (gradients == Gradients::wanted) transposed_ = model_.transposed();
}

void FusedTrainer::index(std::span<const env::Observation* const> observations) {
  graphs_.clear();
  candidate_rules_.resize(std::max(candidate_rules_.size(), observations.size()));
  for (const auto* observation : observations) {
    check(*observation, network_.config().node_kinds, rule_count_);
    check_actions(network_.config(), observation->action_mode);
    graphs_.push_back(internal::fused_graph(*observation, candidate_rules_[graphs_.size()]));
  }
  groups_ = make_candidate_groups(observations);
}

TrainerOutput FusedTrainer::forward(std::span<const env::Observation* const> observations,
                                    std::span<const std::int32_t> chosen, Gradients gradients) {
  check_count(observations, chosen);
  index(observations);
  load_weights(gradients);
  const bool taped = gradients == Gradients::wanted;
  const std::size_t width = model_.config().width;
  if (arenas_.size() < graphs_.size()) arenas_.resize(graphs_.size());
  scores_ = torch::empty({groups_.offsets.back()});
  globals_ = torch::empty({static_cast<std::int64_t>(graphs_.size()), static_cast<std::int64_t>(width)});
  float* scores = scores_.data_ptr<float>();
  float* globals = globals_.data_ptr<float>();
  each_slice([&](std::size_t number, std::size_t count) {
    const auto [first, last] = slice(number, count);
    for (std::size_t i = first; i < last; ++i) {
      // Without a tape one arena serves the whole slice and stays in the cache.
      auto& arena = arenas_[taped ? i : number];
      const internal::FusedRows& rows =
          arena.prepare(graphs_[i], model_.config(), taped ? internal::Tape::kept : internal::Tape::none);
      kernels_.forward(model_.weights(), graphs_[i], rows);
      std::copy_n(rows.scores, graphs_[i].candidates, scores + groups_.offsets[i]);
      std::copy_n(final_globals(model_.weights(), rows), width, globals + i * width);
    }
  });
  scores_.requires_grad_(taped);
  globals_.requires_grad_(taped);
  const torch::AutoGradMode mode(taped);
  return decisions(network_, groups_, {groups_, torch::kCPU}, scores_, globals_, chosen);
}

void FusedTrainer::backward(const Tensor& loss) {
  loss.backward();
  const auto or_zero = [](const Tensor& leaf) {
    return leaf.grad().defined() ? leaf.grad().contiguous() : torch::zeros_like(leaf);
  };
  const Tensor score_gradients = or_zero(scores_), global_gradients = or_zero(globals_);
  const float* scores = score_gradients.data_ptr<float>();
  const float* globals = global_gradients.data_ptr<float>();
  sums_.resize(slices());
  scratch_.resize(slices());
  each_slice([&](std::size_t number, std::size_t count) {
    sums_[number].assign(model_.size(), 0.0f);
    const auto [first, last] = slice(number, count);
    for (std::size_t i = first; i < last; ++i) {
      internal::FusedGradients gradients{};
      gradients.weights = model_.buffer();
      gradients.transposed = transposed_.data();
      gradients.sums = sums_[number].data();
      gradients.scores = scores + groups_.offsets[i];
      gradients.globals = globals + i * model_.config().width;
      scratch_[number].prepare(graphs_[i], model_.config().width, gradients);
      kernels_.backward(model_.weights(), graphs_[i], arenas_[i].rows(), gradients);
    }
  });
  for (std::size_t number = 1; number < sums_.size(); ++number) {
    for (std::size_t i = 0; i < sums_[0].size(); ++i) sums_[0][i] += sums_[number][i];
  }
  auto& flat = network_.gradients();
  model_.add_flat_gradients(sums_[0], {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())});
  if (network_.config().head == Head::hierarchical) return;  // its rows of xfers are weights themselves
  const auto rule_part = model_.rule_part(sums_[0]);
  rule_rows_.backward(
      torch::from_blob(const_cast<float*>(rule_part.data()), rule_rows_.sizes(), torch::kFloat32));
}

}  // namespace

std::unique_ptr<Trainer> make_trainer(Network& network, const env::RuleFeatureTable& rules, Engine engine) {
  check_rules(network.config(), rules.rule_count, rules.action_mode);
  const internal::FusedKernels kernels = internal::best_kernels(network.config());
  const bool possible =
      kernels.forward != nullptr && network.device().is_cpu() && network.type() == torch::kFloat32;
  if (engine == Engine::fused && !possible) {
    throw NnError("the fused engine has no kernel for this width, device or type", "engine",
                  "use engine = automatic");
  }
  if (engine == Engine::torch || !possible) return std::make_unique<TorchTrainer>(network, rules);
  return std::make_unique<FusedTrainer>(network, rules, kernels);
}

}  // namespace regraft::nn::training
