#include "core/cost/measured_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace regraft::cost {
namespace {

constexpr double kTrustedUs = 4;      // a kernel of this time is trusted by half
constexpr double kOwnDistance = 0.1;  // in log2 of the sizes: nearer kernels are the same
constexpr double kFarTrust = 0.03;    // of the mean of all kernels: that of one 3 binary orders away
bool is_dense(const KernelFeatures& features) {
  return features.sizes[KernelFeatures::flops] > 0;
}

constexpr double kMostFactor = 1024;

}  // namespace

void MeasuredKernels::Mean::add(double value, double times) {
  sum += value * times;
  weight += times;
}

MeasuredKernels::Place MeasuredKernels::place_of(const Sizes& sizes) {
  Place place;
  std::ranges::transform(sizes, place.begin(),
                         [](std::int64_t size) { return std::log2(1 + static_cast<double>(size)); });
  return place;
}

MeasuredKernels::MeasuredKernels(std::span<const KernelSample> samples) {
  std::map<std::pair<std::string, Sizes>, std::map<KernelSource, Mean>> kernels;  // each once
  for (const KernelSample& sample : samples) {
    if (!(sample.analytic_us > 0 && sample.measured_us > 0)) continue;
    const double log_factor = std::log(sample.measured_us / sample.analytic_us);
    const double trust = sample.measured_us / (sample.measured_us + kTrustedUs);
    kernels[{sample.features.kernel_kind(), sample.features.sizes}][sample.source].add(log_factor, trust);
    if (sample.source != KernelSource::other_model) all_[is_dense(sample.features)].add(log_factor, trust);
  }
  for (const auto& [key, means] : kernels) {
    const auto& [source, mean] = *means.begin();
    Kind& kind = kinds_[key.first];
    (source == KernelSource::other_model ? kind.elsewhere : kind.here)
        .push_back({place_of(key.second), mean.value(), mean.weight});
  }
}

void MeasuredKernels::add_near(std::span<const Point> points, const Place& place, double farthest,
                               Mean& mean) {
  for (const Point& point : points) {
    double square = kOwnDistance * kOwnDistance;
    for (std::size_t i = 0; i < place.size(); ++i)
      square += (place[i] - point.place[i]) * (place[i] - point.place[i]);
    if (square <= farthest * farthest) mean.add(point.log_factor, point.trust * std::pow(square, -1.5));
  }
}

double MeasuredKernels::factor(const KernelFeatures& features) const {
  constexpr double anywhere = std::numeric_limits<double>::infinity();
  Mean mean;
  if (const Mean& all = all_[is_dense(features)]; all.weight > 0)
    mean.add(all.value(), kFarTrust * all.weight / (1 + all.weight));
  double log_factor = mean.value();
  if (const auto kind = kinds_.find(features.kernel_kind()); kind != kinds_.end()) {
    const auto& [here, elsewhere] = kind->second;
    const Place place = place_of(features.sizes);
    add_near(here, place, anywhere, mean);
    add_near(elsewhere, place, std::numbers::sqrt2 * kOwnDistance, mean);
    log_factor = mean.value();
    if (here.empty()) {
      Mean others;
      add_near(elsewhere, place, anywhere, others);
      log_factor = std::min(log_factor, others.value());
    }
  }
  return std::clamp(std::exp(log_factor), 1 / kMostFactor, kMostFactor);
}

}
