#pragma once

#include <span>
#include <string>

#include "core/base/rng.h"

namespace regraft::exec {

/// The median of all pairwise means, x_i with itself included (Hodges and Lehmann 1963). It is nearly as
/// efficient as the mean on normal noise. Up to 29 % of outliers do not move it. Needs at least one value.
double hodges_lehmann(std::span<const double> values);

/// How much faster `after` is, from sessions run in neighbouring pairs.
struct SpeedupEstimate {
  double speedup = 1;  // exp of the Hodges-Lehmann estimate of log(before_i / after_i)
  double low =
      1;  // 95 % interval: bootstrap over the pairs, percentiles expanded for small samples (Hesterberg 2015,
  double high = 1;  // "What teachers should know about the bootstrap", section 4.2)
};

/// `before_ms[i]` and `after_ms[i]` are the latencies of the sessions of pair i, at least 2 pairs. The pairs
/// cancel slow drift of the machine.
SpeedupEstimate estimate_speedup(std::span<const double> before_ms, std::span<const double> after_ms,
                                 Rng& rng);

/// How many standard errors the mean log ratio lies above that of a speedup (negative: below); infinite where
/// all pairs agree. At least 2 pairs.
double standard_errors_above(double speedup, std::span<const double> before_ms,
                             std::span<const double> after_ms);

/// A/A control: sessions of one and the same file, in the order they ran, taken as n/2 pairs of neighbours,
/// must show no speedup. Under random signs the estimator of estimate_speedup then stays, 95 times of 100,
/// within [1/s, s]; returns s. Having half as many pairs it overstates the noise, which is the safe side. At
/// least 4 sessions.
double control_spread(std::span<const double> session_ms, Rng& rng);

/// Least speedup worth emitting a new graph for, unless another is asked for.
inline constexpr double kLeastSpeedup = 1.01;

struct Verdict {
  bool accepted = false;
  std::string reason;  // one sentence
};

/// Accepts when all hold: speedup >= least; the interval lies above `beaten`; the speedup is larger than the
/// control's spread.
Verdict judge(const SpeedupEstimate& estimate, double control, double least = kLeastSpeedup,
              double beaten = 1);

}
