#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/base/error.h"

namespace regraft::proof {

/// This draw decides nothing: two values to choose between are too close, or the operation is not known. Draw
/// again.
class Undecided : public Error {
 public:
  using Error::Error;
};

/// A choice depends on a value that is no number. On a left side that says nothing. On a right side it
/// refutes the rule, where the left side is defined.
class Undefined : public Undecided {
 public:
  using Undecided::Undecided;
};

/// A real number known in two ways: exactly, as an element of the prime field (field.h), and roughly,
/// as a double, with a bound on how far that may be off. Arithmetic is done on both; which branch of Relu or
/// Max is taken is decided by the double, and refused (Undecided) where it is too close to tell. Of functions
/// that are not rational (Erf, Exp, Sqrt) the exact value is that of a random oracle: equal arguments, equal
/// values, and nothing else is known of them.
struct Exact {
  std::uint64_t residue = 0;
  double rough = 0;  // NaN where there is no such number: the logarithm of what is negative
  double error = 0;  // |rough - the number| at most, but for rounding of second order; infinite: overflown

  static Exact of(double value);
  static Exact of(std::int64_t value);
  /// No number: a quotient by zero, and all that is computed from it.
  static Exact undefined();
  /// Whether it is a number, or one whose rough value is lost.
  bool defined() const;
  /// Whether it is that number.
  bool is(double value) const { return *this == of(value); }
  /// Whether they are the same by their exact values, and by all that is known of their rough ones: what
  /// differs by a factor of 2^61, which is 1 in the field, is not.
  bool operator==(const Exact& other) const;
};

Exact operator+(const Exact& a, const Exact& b);
Exact operator-(const Exact& a, const Exact& b);
Exact operator*(const Exact& a, const Exact& b);
/// Undefined for b = 0.
Exact operator/(const Exact& a, const Exact& b);
inline Exact operator-(const Exact& a) {
  return Exact{} - a;
}

/// Throws Undecided where they differ by less than their errors, Undefined where one is no number.
bool less(const Exact& a, const Exact& b);
const Exact& larger(const Exact& a, const Exact& b);
const Exact& smaller(const Exact& a, const Exact& b);

/// Function number `which` of some arguments, whose rough value and its error are given.
Exact oracle(std::uint64_t which, std::initializer_list<Exact> arguments, double rough, double error = 0);

}
