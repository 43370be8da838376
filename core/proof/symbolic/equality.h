#pragma once

// Internal to core/proof: equality of two normal forms.

#include <vector>

#include "core/proof/symbolic/proof_case.h"

namespace regraft::proof {

/// What Z3 is to confirm: `goal` follows from the facts and what the case assumes.
struct ProofObligation {
  std::vector<z3::expr> facts;
  z3::expr goal;
};

/// Pairs the terms of two sums. Two terms pair that have the same coefficient and factors, after the
/// summation variables of the second are renamed one to one to those of the first, up to a translation. The
/// sums are equal if two obligations hold: guards are equivalent, and where they hold, the places of all
/// factors are equal. Conditions on the place itself (parts of a Concat) are decided first, by cases. Nothing
/// where no pairing is found.
class Equality {
 public:
  explicit Equality(ProofCase& state) : state_(state) {}

  /// Under facts about the place. The obligations are those that were needed, each confirmed already.
  bool equal(const Poly& a, const Poly& b, const std::vector<z3::expr>& facts);
  const std::vector<ProofObligation>& obligations() const { return obligations_; }

 private:
  bool follows(const std::vector<z3::expr>& facts, const z3::expr& goal);
  bool possible(const std::vector<z3::expr>& facts);
  Poly pruned(const Poly& a, const std::vector<z3::expr>& facts, std::vector<z3::expr>& open);
  bool pair_terms(const std::vector<Summand>& a, std::vector<Summand> b, const std::vector<z3::expr>& facts);
  bool same_term(const Summand& a, const Summand& b, const std::vector<z3::expr>& facts);
  bool same_factors(const Summand& a, const Summand& b, std::size_t at, std::vector<std::size_t>& order,
                    const std::vector<z3::expr>& facts);
  bool confirm(const Summand& a, const Summand& b, const std::vector<std::size_t>& order,
               const std::vector<z3::expr>& facts);

  ProofCase& state_;
  std::vector<ProofObligation> obligations_;
  int depth_ = 0;
};

}
