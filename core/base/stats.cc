#include "core/base/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace regraft {
namespace {

double sorted_quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + end - 1) / 2.0;
    for (; first < end; ++first) ranks[order[first]] = shared;
  }
  return ranks;
}

double pearson(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean(x), mean_y = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0) : 0.0;
}

}  // namespace

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_quantile(sorted, q);
}

double interquartile_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double quarter = static_cast<double>(values.size()) / 4;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The share of [i, i + 1] that lies in the middle half.
    const auto at = static_cast<double>(i);
    sum += values[i] * std::max(0.0, std::min(at + 1, 3 * quarter) - std::max(at, quarter));
  }
  return sum / (2 * quarter);
}

Interval bootstrap_interquartile_mean(const std::vector<std::vector<double>>& runs_by_task, Rng& rng,
                                      double confidence, std::size_t resamples) {
  std::vector<double> all;
  for (const std::vector<double>& runs : runs_by_task) all.insert(all.end(), runs.begin(), runs.end());
  std::vector<double> means(resamples), drawn(all.size());
  for (double& mean : means) {
    std::size_t filled = 0;
    for (const std::vector<double>& runs : runs_by_task)
      for (std::size_t i = 0; i < runs.size(); ++i) drawn[filled++] = runs[rng.below(runs.size())];
    mean = interquartile_mean(drawn);
  }
  std::sort(means.begin(), means.end());
  const double tail = (1.0 - confidence) / 2.0;
  return {sorted_quantile(means, tail), interquartile_mean(all), sorted_quantile(means, 1.0 - tail)};
}

double spearman(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2) return 0.0;
  return pearson(mean_ranks(x), mean_ranks(y));
}

}
