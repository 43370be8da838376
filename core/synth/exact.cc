#include "core/synth/exact.h"

#include <cmath>

#include "core/base/hash.h"
#include "core/synth/field.h"

namespace regraft::synth {
namespace {

constexpr double kCloseness = 1e-9;

}  // namespace

Exact Exact::of(double value) {
  if (!std::isfinite(value)) return oracle(0, {}, value);
  return {Field::of(value), value};
}

Exact Exact::of(std::int64_t value) {
  return {Field::of(value), static_cast<double>(value)};
}

Exact operator+(const Exact& a, const Exact& b) {
  return {Field::add(a.residue, b.residue), a.rough + b.rough};
}
Exact operator-(const Exact& a, const Exact& b) {
  return {Field::sub(a.residue, b.residue), a.rough - b.rough};
}
Exact operator*(const Exact& a, const Exact& b) {
  return {Field::multiply(a.residue, b.residue), a.rough * b.rough};
}

Exact operator/(const Exact& a, const Exact& b) {
  if (b.residue == 0) throw Undefined("a divisor is zero", "exact evaluation", "draw again");
  return {Field::multiply(a.residue, Field::invert(b.residue)), a.rough / b.rough};
}

bool less(const Exact& a, const Exact& b) {
  if (a.residue == b.residue) return false;
  const bool infinite = std::isinf(a.rough) || std::isinf(b.rough);
  const double scale = std::max(1.0, std::max(std::abs(a.rough), std::abs(b.rough)));
  if (std::isnan(a.rough) || std::isnan(b.rough) ||
      (!infinite && std::abs(a.rough - b.rough) < kCloseness * scale))
    throw Undecided("two values are too close", "exact evaluation", "draw again");
  return a.rough < b.rough;
}

const Exact& larger(const Exact& a, const Exact& b) {
  return less(a, b) ? b : a;
}

Exact oracle(std::uint64_t which, std::initializer_list<Exact> arguments, double rough) {
  Hasher hasher(which);
  for (const Exact& argument : arguments) hasher.add(argument.residue);
  return {hasher.finish().low % Field::kPrime, rough};
}

}  // namespace regraft::synth
