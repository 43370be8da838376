#pragma once

// Internal to core/proof: values of tensors at symbolic places.

#include <z3++.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/proof/symbolic/written.h"

namespace regraft::proof {

/// Something that the prover does not know how to follow; the rule keeps its lesser status.
class Unprovable : public Error {
 public:
  explicit Unprovable(const std::string& what) : Error(what, "proof", "") {}
};

/// Operands that do not fit: on the left side no such graph exists; of the right side the matcher refuses the
/// match.
class IllTyped : public Error {
 public:
  explicit IllTyped(const std::string& what) : Error(what, "proof", "") {}
};

using Index = std::vector<z3::expr>;  // integers

struct Poly;

/// A factor of a product. It is an element of a tensor of the left side's leaves (name, index), an unknown
/// function of some polynomials and integers, or one over a polynomial (named "inverse").
struct Atom {
  std::string name;
  Index index;
  std::vector<Poly> args;
};

/// A product of atoms, summed over all integers `bounds` for which all `guards` hold.
struct Summand {
  std::int64_t numerator = 1, denominator = 1;
  Index bounds;  // constants of sort Int, different in different terms
  std::vector<z3::expr> guards;
  std::vector<Atom> factors;
};

/// A sum of terms: the normal form of the real value of an element. Products are multiplied out and sums
/// moved to the front (distributivity, linearity and exchange of finite sums). Beside it the same value as it
/// was written, from which nothing here draws any conclusion.
struct Poly {
  std::vector<Summand> terms;
  WrittenRef written = nullptr;  // nothing: 0 where there are no terms, else not known

  static Poly number(std::int64_t numerator, std::int64_t denominator = 1);
  static Poly atom(Atom atom);
  /// "inverse" of the polynomial; of a number, a number. The inverse of an inverse stays one: it is not
  /// defined where the other vanishes.
  static Poly inverse(const Poly& of);
};

Poly operator+(Poly a, const Poly& b);
/// Throws Unprovable for 0 times what is not a number everywhere.
Poly operator*(const Poly& a, const Poly& b);
Poly negate(Poly a);
/// The polynomial where the condition holds, else 0.
Poly guarded(Poly a, const z3::expr& condition);
/// The sum over 0 <= k < extent of body(k).
Poly sum_over(z3::context& context, const z3::expr& extent, const std::function<Poly(const z3::expr&)>& body);
Poly substituted(Poly a, const z3::expr_vector& from, const z3::expr_vector& to);
/// In words, for proof files.
std::string to_text(const Poly& a);

}
