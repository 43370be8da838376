#pragma once

// Internal to core/proof: what the laws of finite sums say of written values.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/proof/symbolic/sum_terms.h"

namespace regraft::proof {

class Renaming;

/// Constants stand for sums. Only the laws that `relate` adds are known of them. Sums of sums and products of
/// sums are sums over more variables. A factor may be moved in and out. A sum of zeros is 0. Sums are equal
/// whose summands are equal one by one, after their variables were permuted and translated. `by_laws` treats
/// products without a sum alike, as sums over no variable: their ring laws are then instances too. Otherwise
/// Z3's own arithmetic multiplies.
class SumLaws {
 public:
  enum class Products : std::uint8_t { by_arithmetic, by_laws };
  SumLaws(z3::context& context, Products products) : products_(products), terms_(context, laws_) {}
  SumLaws(const SumLaws&) = delete;  // its terms add to its laws
  SumLaws& operator=(const SumLaws&) = delete;

  z3::expr translated(const z3::expr& of_another_context) { return terms_.translated(of_another_context); }
  z3::expr value(const WrittenRef& written) { return terms_.value(written, {}); }
  /// Adds laws that may help to show that the two are equal. False where there are too many.
  bool relate(const WrittenRef& left, const WrittenRef& right);
  const std::vector<Law>& laws() const { return laws_; }
  /// What each constant that stands for a sum is, in words of terms: (sum k0 summand).
  const std::vector<std::pair<z3::expr, z3::expr>>& sums() const { return terms_.sums(); }

 private:
  using Places = SumTerms::Places;
  using Factor = SumTerms::Factor;
  using Piece = SumTerms::Piece;
  using Key = SumTerms::Key;
  struct Named {
    Piece piece;
    z3::expr value;  // without its coefficient
  };

  z3::expr total(const std::vector<Named>& parts);
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

  Products products_;
  std::vector<Law> laws_;
  SumTerms terms_;
  std::map<Key, std::vector<Named>> linked_;
  std::set<std::pair<Key, Key>> equalised_;
  std::size_t orders_ = 0;  // of factors, that were tried
};

}
