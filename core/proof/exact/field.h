#pragma once

#include <cstdint>

namespace regraft::proof {

/// The prime field of p = 2^61 - 1 elements: sums, products and quotients without rounding. An identity of
/// rational functions that holds over the reals holds here; one that does not fails on a random point except
/// for a chance of degree / p (Schwartz 1980, Zippel 1979).
class Field {
 public:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

  static std::uint64_t add(std::uint64_t a, std::uint64_t b);
  static std::uint64_t negate(std::uint64_t a) { return a == 0 ? 0 : kPrime - a; }
  static std::uint64_t sub(std::uint64_t a, std::uint64_t b) { return add(a, negate(b)); }
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b);
  static std::uint64_t power(std::uint64_t a, std::uint64_t exponent);
  /// 1 / a for a != 0 (Fermat).
  static std::uint64_t invert(std::uint64_t a) { return power(a, kPrime - 2); }
  /// The image of an integer.
  static std::uint64_t of(std::int64_t value);
  /// The image of a finite double, which is an integer times a power of two: exact.
  static std::uint64_t of(double value);
};

}
