#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace regraft::learner {

/// Evolution strategy with a diagonal covariance (sep-CMA-ES: Ros and Hansen 2008; parameters of Hansen 2016,
/// "The CMA Evolution Strategy: A Tutorial", with the covariance learnt (n + 2) / 3 times as fast). Linear in
/// the number of parameters in time and memory. Depends on the order of losses alone.
///
///   while (...) { auto& individuals = es.ask(); measure each; es.tell(losses); }  then es.mean()
///
/// Deterministic: seed and losses decide everything. One thread.
class SepCmaEs {
 public:
  struct Options {
    double sigma = 0.5;            // first step size, over 0, in units of the parameters
    std::uint32_t population = 0;  // individuals a generation, at least 4; 0: 4 + floor(3 ln n)
    std::uint64_t seed = 0;
  };

  /// Throws UsageError on an empty mean or options out of range.
  SepCmaEs(std::vector<double> mean, const Options& options);

  /// The individuals of this generation, each as long as the mean; the same ones until tell().
  const std::vector<std::vector<double>>& ask();
  /// Losses of the individuals, in their order, lower is better; what is not a number counts as the worst.
  /// Throws UsageError when their count is wrong.
  void tell(std::span<const double> losses);

  const std::vector<double>& mean() const { return mean_; }
  std::size_t population() const { return population_; }
  double sigma() const { return sigma_; }
  std::uint64_t generation() const { return generation_; }

  /// Everything but the options; an interrupted run goes on to the bit.
  std::vector<std::byte> save() const;
  /// Throws replay::ReplayError on bytes of another size; this object is then unchanged.
  void restore(std::span<const std::byte> bytes);

 private:
  void draw();
  void adapt(std::span<const std::size_t> parents);

  std::size_t population_, parents_;
  std::vector<double> weights_;  // of the parents, best first; they sum to 1
  double effective_, sigma_rate_, sigma_damping_, path_rate_, rank_one_rate_, rank_mu_rate_, expected_length_;

  Rng rng_, before_;  // before_: as it was when the individuals were drawn
  std::uint64_t generation_ = 0;
  double sigma_;
  std::vector<double> mean_, variance_, sigma_path_, variance_path_;
  std::vector<std::vector<double>> steps_;        // N(0, variance), one an individual
  std::vector<std::vector<double>> individuals_;  // mean + sigma * step; empty before ask()
};

}
