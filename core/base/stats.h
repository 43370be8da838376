#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace regraft {

/// The mean of at least one value.
double mean(std::span<const double> values);
/// The median of at least one value; the mean of the two middle ones for an even count.
double median(std::span<const double> values);
/// The value at fraction q in [0, 1] of the sorted values, linear between neighbours (Hyndman and Fan 1996,
/// type 7). Of at least one value.
double quantile(std::span<const double> values, double q);

/// An estimate with the bounds of its confidence interval.
struct Interval {
  double low = 0;
  double estimate = 0;
  double high = 0;
};

/// Interquartile mean: the mean of the middle half of the values, those at its borders by their share inside
/// (Agarwal et al. 2021). Needs at least one value.
double interquartile_mean(std::vector<double> values);

/// The interquartile mean of the runs of all tasks together with its stratified percentile bootstrap
/// interval: runs are resampled within each task. `runs_by_task` has at least one task, each with at least
/// one run.
Interval bootstrap_interquartile_mean(const std::vector<std::vector<double>>& runs_by_task, Rng& rng,
                                      double confidence = 0.95, std::size_t resamples = 2000);

/// Spearman's rank correlation in [-1, 1]: Pearson's on ranks, equal values sharing their mean rank. The
/// sides have equal length; 0 where either is constant or there are fewer than two pairs.
double spearman(std::span<const double> x, std::span<const double> y);

}
