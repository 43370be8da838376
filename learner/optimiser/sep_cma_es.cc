#include "learner/optimiser/sep_cma_es.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::learner {
namespace {

constexpr std::uint32_t kLeastPopulation = 4;
// Where all losses are equal the step sizes drift; within these bounds they stay numbers.
constexpr double kLeastSigma = 1e-100, kMostSigma = 1e100;
constexpr double kLeastVariance = 1e-60, kMostVariance = 1e60;

std::size_t default_population(std::size_t parameters) {
  return kLeastPopulation + static_cast<std::size_t>(3 * std::log(static_cast<double>(parameters)));
}

}  // namespace

SepCmaEs::SepCmaEs(std::vector<double> mean, const Options& options)
    : population_(options.population > 0 ? options.population
                                         : default_population(std::max<std::size_t>(mean.size(), 1))),
      parents_(population_ / 2),
      rng_(options.seed, "sep-CMA-ES"),
      before_(rng_),
      sigma_(options.sigma),
      mean_(std::move(mean)),
      variance_(mean_.size(), 1.0),
      sigma_path_(mean_.size(), 0.0),
      variance_path_(mean_.size(), 0.0) {
  if (mean_.empty())
    throw UsageError("there is nothing to optimise", "cma-es", "give at least one parameter");
  if (!(sigma_ > 0)) throw UsageError("the step size is not over 0", "cma-es sigma", "");
  if (population_ < kLeastPopulation)
    throw UsageError("the population is too small", "cma-es population", "use 4 or more");
  const auto n = static_cast<double>(mean_.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < parents_; ++i) {
    weights_.push_back(std::log((static_cast<double>(population_) + 1) / 2) -
                       std::log(static_cast<double>(i) + 1));
    sum += weights_.back();
  }
  for (double& weight : weights_) {
    weight /= sum;
    squares += weight * weight;
  }
  effective_ = 1 / squares;
  sigma_rate_ = (effective_ + 2) / (n + effective_ + 5);
  sigma_damping_ = 1 + 2 * std::max(0.0, std::sqrt((effective_ - 1) / (n + 1)) - 1) + sigma_rate_;
  path_rate_ = (4 + effective_ / n) / (n + 4 + 2 * effective_ / n);
  const double separable = (n + 2) / 3;
  rank_one_rate_ = std::min(1.0, separable * 2 / ((n + 1.3) * (n + 1.3) + effective_));
  rank_mu_rate_ = std::min(1 - rank_one_rate_, separable * 2 * (effective_ - 2 + 1 / effective_) /
                                                   ((n + 2) * (n + 2) + effective_));
  expected_length_ = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

const std::vector<std::vector<double>>& SepCmaEs::ask() {
  if (individuals_.empty()) draw();
  return individuals_;
}

void SepCmaEs::draw() {
  before_ = rng_;
  steps_.assign(population_, std::vector<double>(mean_.size()));
  individuals_.assign(population_, mean_);
  for (std::size_t k = 0; k < population_; ++k) {
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      steps_[k][i] = std::sqrt(variance_[i]) * rng_.normal();
      individuals_[k][i] += sigma_ * steps_[k][i];
    }
  }
}

void SepCmaEs::tell(std::span<const double> losses) {
  ask();
  if (losses.size() != population_)
    throw UsageError("there are " + std::to_string(losses.size()) + " losses for " +
                         std::to_string(population_) + " individuals",
                     "cma-es", "give one an individual");
  std::vector<std::size_t> order(population_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::isnan(losses[b]) ? !std::isnan(losses[a]) : losses[a] < losses[b];
  });
  order.resize(parents_);
  ++generation_;
  adapt(order);
  individuals_.clear();
}

void SepCmaEs::adapt(std::span<const std::size_t> parents) {
  const auto n = static_cast<double>(mean_.size());
  std::vector<double> move(mean_.size(), 0.0), spread(mean_.size(), 0.0);
  double length = 0;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    for (std::size_t k = 0; k < parents.size(); ++k) {
      const double step = steps_[parents[k]][i];
      move[i] += weights_[k] * step;
      spread[i] += weights_[k] * step * step;
    }
    mean_[i] += sigma_ * move[i];
    sigma_path_[i] = (1 - sigma_rate_) * sigma_path_[i] +
                     std::sqrt(sigma_rate_ * (2 - sigma_rate_) * effective_ / variance_[i]) * move[i];
    length = std::hypot(length, sigma_path_[i]);
  }
  const double settled = std::sqrt(1 - std::pow(1 - sigma_rate_, 2 * static_cast<double>(generation_)));
  // While the step size still grows fast the path of the covariance stands still.
  const bool stalled = length / settled >= (1.4 + 2 / (n + 1)) * expected_length_;
  const double pull = stalled ? 0 : std::sqrt(path_rate_ * (2 - path_rate_) * effective_);
  const double kept =
      1 - rank_one_rate_ - rank_mu_rate_ + (stalled ? rank_one_rate_ * path_rate_ * (2 - path_rate_) : 0);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    variance_path_[i] = (1 - path_rate_) * variance_path_[i] + pull * move[i];
    const double adapted = kept * variance_[i] + rank_one_rate_ * variance_path_[i] * variance_path_[i] +
                           rank_mu_rate_ * spread[i];
    variance_[i] = std::clamp(adapted, kLeastVariance, kMostVariance);
  }
  const double growth = std::exp(sigma_rate_ / sigma_damping_ * (length / expected_length_ - 1));
  sigma_ = std::clamp(sigma_ * growth, kLeastSigma, kMostSigma);
}

std::vector<std::byte> SepCmaEs::save() const {
  replay::Bytes bytes;
  replay::ByteWriter out(bytes);
  out.value(static_cast<std::uint64_t>(mean_.size()));
  out.value(generation_);
  out.value(sigma_);
  for (const auto* part : {&mean_, &variance_, &sigma_path_, &variance_path_})
    for (const double value : *part) out.value(value);
  // Individuals that were asked for are drawn again: the stream is kept as it was before them.
  for (const std::uint64_t word : individuals_.empty() ? rng_.state() : before_.state()) out.value(word);
  return bytes;
}

void SepCmaEs::restore(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  if (in.value<std::uint64_t>() != mean_.size())
    throw replay::ReplayError("it is of another number of parameters", "cma-es state", "");
  SepCmaEs other = *this;
  other.generation_ = in.value<std::uint64_t>();
  other.sigma_ = in.value<double>();
  for (auto* part : {&other.mean_, &other.variance_, &other.sigma_path_, &other.variance_path_})
    for (double& value : *part) value = in.value<double>();
  Rng::State state;
  for (std::uint64_t& word : state) word = in.value<std::uint64_t>();
  in.finish();
  other.rng_.restore(state);
  other.individuals_.clear();
  *this = std::move(other);
}

}
