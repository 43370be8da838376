#pragma once

#include <cstdint>
#include <string>

#include "core/rules/set/rule_set.h"

namespace regraft::proof {

struct ProofOptions {
  static constexpr std::uint64_t kMillion = 1000000;
  // In Z3's units of work, for one bound on ranks: some seconds, and the same end on every machine and run.
  std::uint64_t work = kMillion * 10;
  std::size_t least_rank = 3;  // a proof for smaller ranks alone is none
  std::size_t most_rank = 5;
  std::size_t most_bytes = 40000;         // of the conditions in a proof file
  std::size_t most_bytes_whole = 100000;  // of the whole equalities in it; those that do not fit are left out
};

/// What the prover found of one rule.
struct ProofResult {
  bool proved = false;
  bool sets = false;     // the rule speaks of sets: proved for those of up to three members
  bool guarded = false;  // types stay only where the matcher's own check of types lets it apply
  std::size_t most_rank = 0;
  bool fails_above = false;  // a case of the next larger rank was found whose sides do not come out equal
  std::size_t cases = 0, conditions = 0;
  std::size_t equalities = 0;  // of an element of a replaced value with one of the value that replaces it
  std::size_t whole = 0;       // those that are whole in the proof
  std::string why_not;         // where it is not proved
  std::string smt;             // the proof: SMT-LIB, each check-sat of which is unsat
};

/// Proves a rule for all dims >= 1, in cases by the ranks of its operands, axes, permutations, optional
/// operands and sizes of sets. Both sides are followed at a symbolic place (symbolic_*.h) by the definitions
/// of the operations, which are the axioms, to a normal form. Z3 then confirms that (a) the right side is
/// well-typed with the left one's dims, and (b) the two forms are the same. That holds under ring axioms,
/// linearity and re-indexing of finite sums; functions that are not rational stay uninterpreted.
///
/// The proof file holds two kinds of blocks, equal ones once. Conditions: what Z3 had to confirm on the way,
/// over integers, each a negated claim under those assumptions that it needs; by themselves they say nothing
/// of the normal form. Whole equalities (whole_equalities.h): what a case assumes, both sides as the
/// operations define them over uninterpreted leaves and functions, and that they differ; these do not rest on
/// the normal form. `whole` of `equalities` have one. Where z3 does not confirm one within its limit, or the
/// file is full, the rule is still proved. That equality then rests on the normal form.
ProofResult prove_rule(const rules::RuleSet& rules, std::uint32_t rule, const ProofOptions& options = {});

}
