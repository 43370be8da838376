#include "core/exec/latency/speedup_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/base/stats.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

constexpr int kResamples = 2000;
constexpr double kNormalQuantile = 1.959964;  // of 97.5 %
constexpr double kConfidence = 0.95;

/// The median of values, which are reordered: the bootstrap takes thousands of them.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// Student's t quantile of 97.5 % (Abramowitz and Stegun 26.7.5), good to 1 % from 3 degrees of freedom on.
double student_quantile(double freedom) {
  const double z = kNormalQuantile, z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/// The tail probability at which a bootstrap percentile covers as a t interval of n values does.
double expanded_tail(std::size_t n) {
  const double count = static_cast<double>(n);
  const double z = student_quantile(count - 1) * std::sqrt(count / (count - 1));
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

std::string text(const char* format, auto... values) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

}  // namespace

double hodges_lehmann(std::span<const double> values) {
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back(0.5 * (values[i] + values[j]));
  }
  return median_of(means);
}

SpeedupEstimate estimate_speedup(std::span<const double> before_ms, std::span<const double> after_ms,
                                 Rng& rng) {
  const std::size_t pairs = before_ms.size();
  if (pairs < 2 || after_ms.size() != pairs)
    throw ExecError("needs at least 2 whole pairs of sessions", "latency", "");
  std::vector<double> ratios(pairs);
  for (std::size_t i = 0; i < pairs; ++i) ratios[i] = std::log(before_ms[i] / after_ms[i]);
  std::vector<double> estimates(kResamples), sample(pairs);
  for (double& estimate : estimates) {
    for (double& value : sample) value = ratios[rng.below(pairs)];
    estimate = hodges_lehmann(sample);
  }
  const double tail = expanded_tail(pairs);
  return {std::exp(hodges_lehmann(ratios)), std::exp(quantile(estimates, tail)),
          std::exp(quantile(estimates, 1 - tail))};
}

double standard_errors_above(double speedup, std::span<const double> before_ms,
                             std::span<const double> after_ms) {
  std::vector<double> above(before_ms.size());
  for (std::size_t i = 0; i < above.size(); ++i) above[i] = std::log(before_ms[i] / after_ms[i] / speedup);
  const double middle = mean(above), count = static_cast<double>(above.size());
  double squares = 0;
  for (const double value : above) squares += (value - middle) * (value - middle);
  return middle / std::sqrt(squares / (count - 1) / count);
}

double control_spread(std::span<const double> session_ms, Rng& rng) {
  const std::size_t pairs = session_ms.size() / 2;
  if (pairs < 2) throw ExecError("needs at least 4 sessions", "A/A control", "");
  std::vector<double> ratios(pairs);
  for (std::size_t i = 0; i < pairs; ++i) ratios[i] = std::log(session_ms[2 * i] / session_ms[2 * i + 1]);
  std::vector<double> estimates(kResamples), sample(pairs);
  for (double& estimate : estimates) {
    for (std::size_t i = 0; i < pairs; ++i) sample[i] = (rng.next() >> 63) != 0 ? ratios[i] : -ratios[i];
    estimate = std::abs(hodges_lehmann(sample));
  }
  return std::exp(quantile(estimates, kConfidence));
}

Verdict judge(const SpeedupEstimate& estimate, double control, double least, double beaten) {
  const std::string measured = text("%.3fx, 95 %% interval %.3f to %.3f, A/A control within %.3f",
                                    estimate.speedup, estimate.low, estimate.high, control);
  if (estimate.speedup < least) {
    return {false, text("not faster by the least gain of %.3g %%: ", (least - 1) * 100) + measured};
  }
  if (estimate.low <= 1)
    return {false, "the measured speedup may be noise, its interval includes 1: " + measured};
  if (estimate.low <= beaten)
    return {false, text("it may be no faster than the %.3fx that was reached before: ", beaten) + measured};
  if (estimate.speedup <= control) {
    return {false,
            "the measured speedup is no larger than what the same file shows against itself: " + measured};
  }
  return {true, "measured faster: " + measured};
}

}
