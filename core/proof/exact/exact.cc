#include "core/proof/exact/exact.h"

#include <cmath>
#include <limits>

#include "core/base/hash.h"
#include "core/proof/exact/field.h"

namespace regraft::proof {
namespace {

constexpr double kRounding = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kInfinite = 0, kNone = 1;  // oracles that say what infinity is, and what is no number

bool finite(const Exact& a, const Exact& b) {
  return std::isfinite(a.rough) && std::isfinite(b.rough);
}

// What is infinite because it was written so has no error, and what came of finite numbers an infinite one.
double rounded(double rough, double error) {
  return std::isfinite(rough) ? error + kRounding * std::abs(rough) : kInfinity;
}

double error_of_sum(const Exact& a, const Exact& b, double rough) {
  const double error = a.error + b.error;
  return finite(a, b) ? rounded(rough, error) : error;
}

}  // namespace

Exact Exact::of(double value) {
  if (std::isnan(value)) return undefined();
  if (!std::isinf(value)) return {Field::of(value), value};
  const Exact infinity = oracle(kInfinite, {}, kInfinity);
  return value > 0 ? infinity : Exact{Field::negate(infinity.residue), value};
}

Exact Exact::of(std::int64_t value) {
  return {Field::of(value), static_cast<double>(value)};
}

Exact Exact::undefined() {
  return oracle(kNone, {}, std::numeric_limits<double>::quiet_NaN());
}

bool Exact::defined() const {
  return !std::isnan(rough) || !std::isfinite(error);
}

Exact operator+(const Exact& a, const Exact& b) {
  const double rough = a.rough + b.rough;
  return {Field::add(a.residue, b.residue), rough, error_of_sum(a, b, rough)};
}

Exact operator-(const Exact& a, const Exact& b) {
  const double rough = a.rough - b.rough;
  return {Field::sub(a.residue, b.residue), rough, error_of_sum(a, b, rough)};
}

Exact operator*(const Exact& a, const Exact& b) {
  const double rough = a.rough * b.rough;
  const double error =
      finite(a, b) ? rounded(rough, std::abs(a.rough) * b.error + (std::abs(b.rough) + b.error) * a.error)
                   : a.error + b.error;
  return {Field::multiply(a.residue, b.residue), rough, error};
}

Exact operator/(const Exact& a, const Exact& b) {
  if (b.residue == 0) return Exact::undefined();
  const double rough = a.rough / b.rough, least = std::abs(b.rough) - b.error;
  const double error = !finite(a, b) ? a.error + b.error
                       : least > 0   ? rounded(rough, (a.error + std::abs(rough) * b.error) / least)
                                     : kInfinity;
  return {Field::multiply(a.residue, Field::invert(b.residue)), rough, error};
}

bool Exact::operator==(const Exact& other) const {
  constexpr double kSlack = 1e3, kLeast = 1e-9;  // errors are known but for rounding of second order
  if (residue != other.residue) return false;
  if (!finite(*this, other)) return true;
  const double scale = std::max(std::abs(rough), std::abs(other.rough));
  const bool apart = std::abs(rough - other.rough) > kSlack * (error + other.error) + kLeast * scale;
  return !apart;  // nor where an error is not known
}

bool less(const Exact& a, const Exact& b) {
  if (!a.defined() || !b.defined()) throw Undefined("it is no number", "exact evaluation", "draw again");
  if (a == b) return false;
  const bool apart = a.rough != b.rough && std::abs(a.rough - b.rough) > a.error + b.error;
  if (std::isnan(a.rough) || std::isnan(b.rough) || !apart)
    throw Undecided("two values are too close", "exact evaluation", "draw again");
  return a.rough < b.rough;
}

const Exact& larger(const Exact& a, const Exact& b) {
  return less(a, b) ? b : a;
}

const Exact& smaller(const Exact& a, const Exact& b) {
  return less(b, a) ? b : a;
}

Exact oracle(std::uint64_t which, std::initializer_list<Exact> arguments, double rough, double error) {
  Hasher hasher(which);
  for (const Exact& argument : arguments) hasher.add(argument.residue);
  return {hasher.finish().low % Field::kPrime, rough, error};
}

}
