#include <cmath>
#include <limits>

#include "core/graph/evaluate_ops.h"

// The C library picks its kernels by CPU (with and without fused multiply-add), so its last bit is not the
// same everywhere.

namespace regraft::graph::exact {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2High = 6.93147180369123816490e-01,
                 kLn2Low = 1.90821492927058770002e-10;  // fdlibm e_exp.c
constexpr double kInvLn2 = 1.44269504088896338700e+00;

/// exp(x) - 1 for |x| <= 0.35: Taylor's series to x^14.
double small_expm1(double x) {
  double sum = 0;
  for (int n = 14; n >= 1; --n) sum = x / n * (1 + sum);
  return sum;
}

constexpr double kHalfPiHigh = 1.57079632673412561417e+00, kHalfPiMid = 6.07710050630396597660e-11,
                 kHalfPiLow = 2.02226624879595063154e-21;  // fdlibm e_rem_pio2.c
constexpr double kLargestAngle = 1e6;  // above, the C library's reduction is better than ours

double sin_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = -square / (n * (n + 1)) * (1 + sum);
  return x + x * sum;
}

double cos_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 19; n >= 1; n -= 2) sum = -square / (n * (n + 1)) * (1 + sum);
  return 1 + sum;
}

double sin_of(double x, int quarter_turns) {
  const double turns = std::nearbyint(x / (kHalfPiHigh + kHalfPiMid));
  const double rest = ((x - turns * kHalfPiHigh) - turns * kHalfPiMid) - turns * kHalfPiLow;
  switch ((static_cast<int>(turns) + quarter_turns) & 3) {
    case 0:
      return sin_series(rest);
    case 1:
      return cos_series(rest);
    case 2:
      return -sin_series(rest);
    default:
      return -cos_series(rest);
  }
}

double whole_power(double x, std::int64_t n) {
  double result = 1;
  for (std::uint64_t bits = static_cast<std::uint64_t>(n < 0 ? -n : n); bits != 0; bits >>= 1, x *= x)
    if (bits & 1) result *= x;
  return n < 0 ? 1 / result : result;
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return kInfinity;
  if (x < -745.2) return 0;
  const double k = std::nearbyint(x * kInvLn2);
  const double rest = (x - k * kLn2High) - k * kLn2Low;
  return std::ldexp(1 + small_expm1(rest), static_cast<int>(k));
}

double log(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  if (x < 0) return kNaN;
  if (x == 0) return -kInfinity;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;  // log m = 2 atanh s, |s| < 0.172
  double sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = square * (1.0 / n + sum);
  return exponent * kLn2High + (2 * s * sum + exponent * kLn2Low + 2 * s);
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  if (y == 0.5 && x >= 0) return std::sqrt(x);
  if (y == -0.5 && x > 0) return 1 / std::sqrt(x);
  const bool whole = std::floor(y) == y;
  if (whole && std::abs(y) <= 64) return whole_power(x, static_cast<std::int64_t>(y));
  if (std::isinf(y)) {
    const double size = std::abs(x);
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? kInfinity : 0;
  }
  if (x < 0 && !whole) return x == -kInfinity ? (y > 0 ? kInfinity : 0.0) : kNaN;
  const double size =
      std::abs(x) == kInfinity || x == 0 ? ((x == 0) == (y > 0) ? 0 : kInfinity) : exp(y * log(std::abs(x)));
  const bool odd = whole && std::abs(y) < 9007199254740992.0 && std::fmod(y, 2) != 0;
  return x < 0 && odd ? -size : size;
}

double tanh(double x) {
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  if (size > 20) return x < 0 ? -1 : 1;
  const double e = 2 * size <= 0.35 ? small_expm1(2 * size) : exp(2 * size) - 1;
  const double value = e / (e + 2);
  return x < 0 ? -value : value;
}

double erf(double x) {
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  if (size > 6) return x < 0 ? -1 : 1;
  constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
  double value = 0;
  if (size < 2.5) {  // Abramowitz and Stegun 7.1.6: all terms positive
    double term = size, sum = size;
    for (int n = 1; n < 60; ++n) {
      term *= 2 * size * size / (2 * n + 1);
      sum += term;
    }
    value = kTwoOverSqrtPi * exp(-size * size) * sum;
  } else {  // 7.1.14: the continued fraction of erfc, from the far end
    double fraction = size;
    for (int n = 80; n >= 1; --n) fraction = size + n / 2.0 / fraction;
    value = 1 - 0.5 * kTwoOverSqrtPi * exp(-size * size) / fraction;
  }
  return x < 0 ? -value : value;
}

double sin(double x) {
  if (!std::isfinite(x)) return kNaN;
  return std::abs(x) > kLargestAngle ? std::sin(x) : sin_of(x, 0);
}

double cos(double x) {
  if (!std::isfinite(x)) return kNaN;
  return std::abs(x) > kLargestAngle ? std::cos(x) : sin_of(x, 1);
}

}
