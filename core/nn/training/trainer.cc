#include "core/nn/training/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "core/nn/fused/fused_model.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/device_tensor.h"
#include "core/nn/training/graph_store.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

Tensor entropy(const Tensor& log_probabilities, const Rows& rows) {
  return segment_sum((-log_probabilities.exp() * log_probabilities).unsqueeze(1), rows).squeeze(1);
}

/// What was chosen in each graph of a minibatch, as rows of its candidates and pairs.
struct Chosen {
  std::vector<std::int64_t> candidates, pairs, rules;
};

/// `all`: of the graphs that `graphs` are among, by number.
Chosen chosen_rows(const CandidateGroups& all, std::span<const std::size_t> graphs,
                   std::span<const std::int32_t> chosen) {
  Chosen rows;
  std::int64_t first_candidate = 0, first_pair = 0;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::size_t graph = graphs[i];
    const std::int32_t begin = all.offsets[graph], end = all.offsets[graph + 1];
    if (chosen[i] < 0 || chosen[i] >= end - begin)
      throw NnError("the chosen candidate is not in its observation", "segment", "reject it");
    const std::vector<std::int32_t>& pairs = all.pair_graph.offsets;
    const std::int32_t pair =
        all.pair.group[static_cast<std::size_t>(begin) + static_cast<std::size_t>(chosen[i])];
    rows.candidates.push_back(first_candidate + chosen[i]);
    rows.pairs.push_back(first_pair + pair - pairs[graph]);
    rows.rules.push_back(all.rules[static_cast<std::size_t>(pair)]);
    first_candidate += end - begin;
    first_pair += pairs[graph + 1] - pairs[graph];
  }
  return rows;
}

/// What the network says of the chosen candidates, from scores [c] and the graphs' embeddings [g, w].
TrainerOutput decisions(const Network& network, const Chosen& chosen, const CandidateTensors& tensors,
                        const Tensor& scores, const Tensor& globals) {
  const auto at = [&](const std::vector<std::int64_t>& rows) { return copied(rows, network.device()); };
  const PolicyOutput output = network.decide(tensors, scores, globals);
  TrainerOutput result;
  result.log_probabilities = output.log_probabilities;
  result.first.values = output.values;
  if (network.config().head == Head::pointer) {
    result.first.log_probability = output.log_probabilities.index_select(0, at(chosen.candidates));
    result.first.entropy = entropy(output.log_probabilities, tensors.graph);
    return result;
  }
  Chosen second;
  std::vector<std::int64_t> graphs;
  for (std::size_t graph = 0; graph < chosen.rules.size(); ++graph) {
    if (chosen.rules[graph] + 1 == std::int64_t{network.config().rules}) continue;  // NO-OP
    second.candidates.push_back(chosen.candidates[graph]);
    second.pairs.push_back(chosen.pairs[graph]);
    second.rules.push_back(chosen.rules[graph]);
    graphs.push_back(static_cast<std::int64_t>(graph));
  }
  result.second_graphs.assign(graphs.begin(), graphs.end());
  result.first.log_probability = output.rule_log_probabilities.index_select(0, at(chosen.pairs));
  result.first.entropy = entropy(output.rule_log_probabilities, tensors.pair_graph);
  result.second.log_probability = output.location_log_probabilities.index_select(0, at(second.candidates));
  result.second.entropy =
      entropy(output.location_log_probabilities, tensors.pair).index_select(0, at(second.pairs));
  result.second.values = network.rule_values(globals.index_select(0, at(graphs)), at(second.rules));
  return result;
}

void check_count(std::span<const std::size_t> rows, std::span<const std::int32_t> chosen) {
  if (rows.empty()) throw NnError("an empty batch", "trainer", "give at least one observation");
  if (rows.size() != chosen.size()) throw NnError("observations and choices differ", "trainer", "");
}

struct TorchGraphs : TrainerGraphs {
  explicit TorchGraphs(GraphStore of) : store(std::move(of)) {}
  GraphStore store;
};

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(Network& network, const env::RuleFeatureTable& rules)
      : network_(network),
        rules_(rule_tensor(rules, network.device(), network.type())),
        rule_count_(rules.rule_count) {}

  std::shared_ptr<const TrainerGraphs> load(
      std::span<const env::Observation* const> observations) const override {
    for (const auto* observation : observations) check_actions(network_.config(), observation->action_mode);
    return std::make_shared<TorchGraphs>(
        GraphStore(make_batch(observations, network_.config().node_kinds, rule_count_), network_.device(),
                   network_.type()));
  }
  TrainerOutput forward(const TrainerGraphs& graphs, std::span<const std::size_t> rows,
                        std::span<const std::int32_t> chosen, Gradients gradients) override {
    check_count(rows, chosen);
    const GraphStore& store = dynamic_cast<const TorchGraphs&>(graphs).store;
    const Chosen at = chosen_rows(store.groups(), rows, chosen);
    const torch::AutoGradMode mode(gradients == Gradients::wanted);
    const BatchTensors batch = store.select(rows);
    const Encoding encoding = network_.encode(batch);
    return decisions(network_, at, batch.groups, network_.scores(batch, encoding, rules_), encoding.globals);
  }
  void backward(const Tensor& loss) override { loss.backward(); }

 private:
  Network& network_;
  Tensor rules_;
  std::size_t rule_count_;
};

struct FusedGraphs : TrainerGraphs {
  std::vector<const env::Observation*> observations;
  std::vector<std::vector<std::uint16_t>> candidate_rules;
  std::vector<internal::FusedGraph> graphs;
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

  std::shared_ptr<const TrainerGraphs> load(
      std::span<const env::Observation* const> observations) const override;
  TrainerOutput forward(const TrainerGraphs& graphs, std::span<const std::size_t> rows,
                        std::span<const std::int32_t> chosen, Gradients gradients) override;
  void backward(const Tensor& loss) override;

 private:
  void load_weights(Gradients gradients);
  Chosen choose(const FusedGraphs& graphs, std::span<const std::size_t> rows,
                std::span<const std::int32_t> chosen);
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
  std::vector<internal::FusedGraph> graphs_;  // of the last forward pass, as the next ones
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

std::shared_ptr<const TrainerGraphs> FusedTrainer::load(
    std::span<const env::Observation* const> observations) const {
  if (observations.empty()) throw NnError("an empty batch", "trainer", "give at least one observation");
  auto loaded = std::make_shared<FusedGraphs>();
  loaded->observations.assign(observations.begin(), observations.end());
  loaded->candidate_rules.resize(observations.size());
  for (std::size_t i = 0; i < observations.size(); ++i) {
    check(*observations[i], network_.config().node_kinds, rule_count_);
    check_actions(network_.config(), observations[i]->action_mode);
    loaded->graphs.push_back(internal::fused_graph(*observations[i], loaded->candidate_rules[i]));
  }
  return loaded;
}

/// Takes the graphs of a minibatch, whose own numbers are their places in it.
Chosen FusedTrainer::choose(const FusedGraphs& graphs, std::span<const std::size_t> rows,
                            std::span<const std::int32_t> chosen) {
  std::vector<const env::Observation*> observations;
  std::vector<std::size_t> places;
  graphs_.clear();
  for (const std::size_t row : rows) {
    places.push_back(places.size());
    observations.push_back(graphs.observations[row]);
    graphs_.push_back(graphs.graphs[row]);
  }
  groups_ = make_candidate_groups(observations);
  return chosen_rows(groups_, places, chosen);
}

TrainerOutput FusedTrainer::forward(const TrainerGraphs& graphs, std::span<const std::size_t> rows,
                                    std::span<const std::int32_t> chosen, Gradients gradients) {
  check_count(rows, chosen);
  const Chosen at = choose(dynamic_cast<const FusedGraphs&>(graphs), rows, chosen);
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
      const internal::FusedRows& held =
          arena.prepare(graphs_[i], model_.config(), taped ? internal::Tape::kept : internal::Tape::none);
      kernels_.forward(model_.weights(), graphs_[i], held);
      std::copy_n(held.scores, graphs_[i].candidates, scores + groups_.offsets[i]);
      std::copy_n(final_globals(model_.weights(), held), width, globals + i * width);
    }
  });
  scores_.requires_grad_(taped);
  globals_.requires_grad_(taped);
  const torch::AutoGradMode mode(taped);
  return decisions(network_, at, {groups_, torch::kCPU}, scores_, globals_);
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
  if (network_.config().head == Head::hierarchical) return;  // its rows of rules are weights themselves
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

}
