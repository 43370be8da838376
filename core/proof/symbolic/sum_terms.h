#pragma once

// Internal to core/proof: written values as Z3's reals, and as sums of products.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/proof/symbolic/written.h"

namespace regraft::proof {

/// One instance of a law, without quantifiers, for places that are named for it alone ("the place where the
/// summands differ, if there is one"): true in every model of finite sums, whatever the places are.
struct Law {
  std::string name;
  z3::expr claim;
};

/// Translates written values to terms of one context: leaves and functions become uninterpreted functions,
/// each sum a constant of its own, of which nothing is known (sum_laws.h says more of them).
class SumTerms {
 public:
  /// What the variables of enclosing sums stand for.
  using Places = std::vector<std::pair<z3::expr, z3::expr>>;
  using Key = std::pair<const Written*, std::string>;
  struct Factor {
    WrittenRef atom;
    Places places;
  };
  /// A product, summed over all integers `bounds` for which the guards hold.
  struct Piece {
    std::int64_t numerator = 1, denominator = 1;
    std::vector<z3::expr> bounds, guards;
    std::vector<Factor> factors;
  };

  /// What is known of functions is added to `laws`, which must live as long.
  SumTerms(z3::context& context, std::vector<Law>& laws) : context_(context), laws_(laws) {}

  z3::context& context() { return context_; }
  z3::expr translated(const z3::expr& of_another_context);
  z3::expr at(const z3::expr& index, const Places& places);
  z3::expr value(const WrittenRef& written, const Places& places);
  /// A constant for the sum, and what it is in words of terms: (sum k0 summand).
  z3::expr named_sum(const Piece& piece);
  const std::vector<std::pair<z3::expr, z3::expr>>& sums() const { return sums_; }

  z3::expr fresh(const char* prefix, const z3::sort& sort);
  z3::expr number(std::int64_t numerator, std::int64_t denominator);
  z3::expr all(const std::vector<z3::expr>& conditions);
  /// The factors under the guards, without coefficient and sum.
  z3::expr product(const Piece& piece);
  /// The value multiplied out.
  std::vector<Piece> pieces(const WrittenRef& written, const Places& places);
  Piece moved(const Piece& piece, const z3::expr_vector& from, const z3::expr_vector& to) const;
  bool has_sum(const WrittenRef& written);
  Key key_of(const WrittenRef& written, const Places& places);

 private:
  std::optional<z3::expr> arithmetic(const Written& written, const Places& places,
                                     const std::function<z3::expr(std::size_t)>& part);
  z3::expr shown(const WrittenRef& written, const Places& places, int depth);
  z3::expr shown(const Piece& piece);
  z3::expr atom(const WrittenRef& written, const Places& places, const std::vector<z3::expr>& args);
  Piece times(const Piece& a, const Piece& b);

  z3::context& context_;
  std::vector<Law>& laws_;
  std::vector<std::pair<z3::expr, z3::expr>> sums_;
  std::map<unsigned, z3::expr> translations_;  // by number of the other context
  std::map<unsigned, z3::expr> alive_;         // images, so that their numbers stay theirs
  std::map<Key, z3::expr> values_;
  std::map<const Written*, bool> has_sum_;
  int names_ = 0;
};

}
