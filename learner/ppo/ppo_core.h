#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/model/weights.h"
#include "learner/optimiser/flat_adam.h"
#include "learner/optimiser/work_share.h"
#include "learner/ppo/ppo_loss.h"
#include "learner/ppo/ppo_metrics.h"
#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

/// A range of a flat parameter tensor that belongs to the value functions, and has their learning rate.
struct ValueRange {
  std::int64_t offset = 0, count = 0;
};

/// What PPO does whatever it trains: minibatches in a random order, clipped gradients, two learning rates
/// and how they fall, counts of updates, and all of that as bytes. Over one flat tensor of parameters and one
/// of their gradients, which it is given; Adam works on each element by itself, so with one learning rate
/// there is one group. One thread.
class PpoCore {
 public:
  /// What messages call the thing that is trained, and the stream of its minibatches.
  struct Names {
    std::string what, stream;
    std::uint32_t state_format = 0;
  };
  /// `values` ascend and do not overlap. Throws UsageError on options out of range.
  PpoCore(const PpoOptions& options, const torch::Tensor& parameters, torch::Tensor& gradients,
          std::span<const ValueRange> values, std::uint64_t seed, Names names);
  /// From now on the members of the group share each minibatch.
  void share_with(std::shared_ptr<wire::Group> group) { work_.share_with(std::move(group)); }
  const WorkShare& work() const { return work_; }

  /// Minibatches of all epochs over `rows` rows; afterwards version() is one higher. `loss` gives what the
  /// rows that are this learner's add to the loss of all rows of a minibatch, and adds to the sums;
  /// `backward` fills the gradients. Throws NnError where a loss or a gradient was not finite: all is then as
  /// it was before the update. Waits for the device once, at the end; in a group, for each minibatch.
  using Loss = std::function<torch::Tensor(std::span<const std::size_t> own, std::span<const std::size_t> all,
                                           PpoSums& sums)>;
  using Backward = std::function<void(const torch::Tensor& loss)>;
  void train(std::size_t rows, const Loss& loss, const Backward& backward, PpoMetrics& metrics);

  /// From now on learning rates and entropy bonus are this share (0 to 1) of the options'.
  void anneal(double share);

  const PpoOptions& options() const { return options_; }
  double entropy_coefficient() const { return entropy_coefficient_; }
  /// The version of the weights: 1 + updates, as on the wire, where 0 means none.
  std::uint64_t version() const { return updates_ + 1; }

  std::vector<std::byte> save(const nn::Weights& weights) const;
  /// `check` is given the weights and throws where they are of another network; `load` takes them once all
  /// else is known to fit. Throws replay::ReplayError and NnError; this object is then unchanged.
  using WithWeights = std::function<void(const nn::Weights&)>;
  void restore(std::span<const std::byte> bytes, const WithWeights& check, const WithWeights& load);

 private:
  struct ParameterGroup {
    ParameterGroup(const torch::Tensor& parameters, torch::Tensor of_gradients, double of_learning_rate)
        : gradients(std::move(of_gradients)),
          adam(parameters, of_learning_rate),
          learning_rate(of_learning_rate) {}
    torch::Tensor gradients;
    FlatAdam adam;
    double learning_rate = 0;
  };
  void add(std::int64_t begin, std::int64_t end, bool of_values);
  void minibatch(std::span<const std::size_t> rows, const Loss& loss, const Backward& backward,
                 PpoSums& sums);
  void add_means(PpoMetrics& metrics, const PpoSums& sums) const;
  [[noreturn]] void fail(const char* what) const;

  PpoOptions options_;
  Names names_;
  torch::Tensor parameters_;
  torch::Tensor& gradients_;
  std::deque<ParameterGroup> groups_;
  Rng rng_;
  WorkShare work_;
  double entropy_coefficient_;
  std::uint64_t updates_ = 0;
};

/// What is known of an update's decisions when they arrive: |pi / mu - 1| of those acted with the current
/// weights, and how many ratios are over the limit.
class ArrivalCheck {
 public:
  explicit ArrivalCheck(double ratio_limit) : ratio_limit_(ratio_limit) {}

  void look(double proximal, double acted, bool current_weights);
  /// Adds all but lag0_steps.
  void finish(PpoMetrics& metrics);

 private:
  double ratio_limit_;
  std::size_t truncated_ = 0, decisions_ = 0;
  std::vector<double> lag0_;
};

/// Share of the targets' variance that the values explain; 0 where there is none.
double explained_variance(std::span<const float> values, std::span<const float> targets);

}
