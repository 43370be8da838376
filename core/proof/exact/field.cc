#include "core/proof/exact/field.h"

#include <cmath>

namespace regraft::proof {
namespace {

constexpr int kBits = 61;
constexpr int kMantissaBits = 53;

}  // namespace

std::uint64_t Field::add(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t Field::multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const auto low = static_cast<std::uint64_t>(product) & kPrime;
  return add(low, static_cast<std::uint64_t>(product >> kBits));
}

std::uint64_t Field::power(std::uint64_t a, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, a);
    a = multiply(a, a);
  }
  return result;
}

std::uint64_t Field::of(std::int64_t value) {
  const std::uint64_t magnitude =
      (value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value)) %
      kPrime;
  return value < 0 ? negate(magnitude) : magnitude;
}

std::uint64_t Field::of(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  const std::uint64_t integer = of(static_cast<std::int64_t>(std::ldexp(mantissa, kMantissaBits)));
  // 2^61 = 1 here, so powers of two repeat.
  const int shift = ((exponent - kMantissaBits) % kBits + kBits) % kBits;
  return multiply(integer, std::uint64_t{1} << shift);
}

}
