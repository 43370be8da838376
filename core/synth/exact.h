#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/base/error.h"

namespace regraft::synth {

/// The draw decides nothing here: two values of which one is to be chosen are too close, or the operation is
/// not known. Draw again.
class Undecided : public Error {
 public:
  using Error::Error;
};

/// There is no such number: a divisor is zero. On a left side it says nothing, on the right side of what is
/// defined on the left it refutes.
class Undefined : public Undecided {
 public:
  using Undecided::Undecided;
};

/// A real number known in two ways: exactly, as an element of the prime field (synth/field.h), and roughly,
/// as a double. Arithmetic is done on both; which branch of Relu or Max is taken is decided by the double,
/// and refused (Undecided) where it is too close to tell. Of functions that are not rational (Erf, Exp, Sqrt)
/// the exact value is that of a random oracle: equal arguments, equal values, and nothing else is known of
/// them.
struct Exact {
  std::uint64_t residue = 0;
  double rough = 0;

  static Exact of(double value);
  static Exact of(std::int64_t value);
};

Exact operator+(const Exact& a, const Exact& b);
Exact operator-(const Exact& a, const Exact& b);
Exact operator*(const Exact& a, const Exact& b);
/// Throws Undefined for b = 0.
Exact operator/(const Exact& a, const Exact& b);
inline Exact operator-(const Exact& a) {
  return Exact{} - a;
}

/// Throws Undecided where they differ by less than rounding may explain.
bool less(const Exact& a, const Exact& b);
const Exact& larger(const Exact& a, const Exact& b);

/// Function number `which` of some arguments, whose rough value is given.
Exact oracle(std::uint64_t which, std::initializer_list<Exact> arguments, double rough);

}  // namespace regraft::synth
