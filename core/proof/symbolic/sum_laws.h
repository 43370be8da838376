#pragma once

// Internal to core/proof: written values as Z3's reals, and what the laws of finite sums say of them.

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/proof/symbolic/written_value.h"

namespace regraft::proof {

class Renaming;

/// One instance of a law, without quantifiers, for places that are named for it alone ("the place where the
/// summands differ, if there is one"): true in every model of finite sums, whatever the places are.
struct Law {
  std::string name;
  z3::expr claim;
};

/// Translates written values to terms of one context: leaves and functions become uninterpreted functions,
/// each sum a constant of its own, of which nothing is known but the laws that `relate` adds: that sums of
/// sums and products of sums are sums over more variables, that a factor may be moved in and out, that a sum
/// of zeros is 0, and that sums whose summands are equal one by one, after their variables were permuted and
/// translated, are equal. `monomials` treats products without a sum alike, as sums over no variable: their
/// ring laws are then instances too. Otherwise Z3's own arithmetic multiplies.
class SumLaws {
 public:
  enum class Products : std::uint8_t { by_arithmetic, by_laws };
  SumLaws(z3::context& context, Products products) : context_(context), products_(products) {}

  z3::expr translated(const z3::expr& of_another_context);
  z3::expr value(const WrittenRef& written) { return value(written, {}); }
  /// Adds laws that may help to show that the two are equal. False where there are too many.
  bool relate(const WrittenRef& left, const WrittenRef& right);
  const std::vector<Law>& laws() const { return laws_; }
  /// What each constant that stands for a sum is, in words of terms: (sum k0 summand).
  const std::vector<std::pair<z3::expr, z3::expr>>& sums() const { return sums_; }

 private:
  // What the variables of enclosing sums stand for.
  using Places = std::vector<std::pair<z3::expr, z3::expr>>;
  struct Factor {
    WrittenRef atom;
    Places places;
  };
  // A product, summed over all integers `bounds` for which the guards hold.
  struct Piece {
    std::int64_t numerator = 1, denominator = 1;
    std::vector<z3::expr> bounds, guards;
    std::vector<Factor> factors;
  };
  struct Named {
    Piece piece;
    z3::expr value;  // without its coefficient
  };
  using Key = std::pair<const Written*, std::string>;

  z3::expr at(const z3::expr& index, const Places& places);
  z3::expr value(const WrittenRef& written, const Places& places);
  std::optional<z3::expr> arithmetic(const Written& written, const Places& places,
                                     const std::function<z3::expr(std::size_t)>& part);
  z3::expr shown(const WrittenRef& written, const Places& places, int depth);
  z3::expr shown(const Piece& piece);
  z3::expr atom(const WrittenRef& written, const Places& places, const std::vector<z3::expr>& args);
  z3::expr fresh(const char* prefix, const z3::sort& sort);
  z3::expr number(std::int64_t numerator, std::int64_t denominator);
  z3::expr all(const std::vector<z3::expr>& conditions);
  z3::expr product(const Piece& piece);
  z3::expr total(const std::vector<Named>& parts);
  bool has_sum(const WrittenRef& written);
  Key key_of(const WrittenRef& written, const Places& places);

  std::vector<Piece> pieces(const WrittenRef& written, const Places& places);
  Piece times(const Piece& a, const Piece& b);
  Piece moved(const Piece& piece, const z3::expr_vector& from, const z3::expr_vector& to) const;
  bool is_named(const Piece& piece) const;
  std::vector<Named> linked(const WrittenRef& written, const Places& places);
  std::vector<Named> named(const WrittenRef& written, const Places& places);
  void link_product(const WrittenRef& written, const Places& places, const std::vector<Named>& whole);
  std::vector<Named> linked_sum(const WrittenRef& written, const Places& places);
  void add(std::string name, const z3::expr& claim);

  void equalise(const WrittenRef& left, const Places& l, const WrittenRef& right, const Places& r);
  void pair(const Named& a, const Named& b, std::vector<std::size_t>& order);
  void learn(Renaming& renaming, const Factor& wanted, const Factor& held);
  void confirm(const Named& a, const Named& b, const std::vector<std::size_t>& order);
  void vanish(const Named& a);

  z3::context& context_;
  Products products_;
  std::vector<Law> laws_;
  std::vector<std::pair<z3::expr, z3::expr>> sums_;
  std::map<unsigned, z3::expr> translations_;  // by number of the other context
  std::map<unsigned, z3::expr> alive_;         // images, so that their numbers stay theirs
  std::map<Key, z3::expr> values_;
  std::map<Key, std::vector<Named>> linked_;
  std::map<const Written*, bool> has_sum_;
  std::set<std::pair<Key, Key>> equalised_;
  int names_ = 0;
  std::size_t orders_ = 0;  // of factors, that were tried
};

}  // namespace regraft::proof
