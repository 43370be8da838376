#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/proof/exact/check_bounded.h"
#include "core/proof/symbolic/prove_rule.h"
#include "core/rules/set/rule_set.h"
#include "core/rules/set/status_table.h"

namespace regraft::proof {

struct VerifyOptions {
  BoundedOptions bounded;
  ProofOptions proof;
  std::size_t jobs = 1;     // rules at the same time
  std::string z3;           // a z3 program that checks each proof file too; empty: none
  bool stored_too = false;  // proofs that are stored beside the rules are run again
};

/// What was found of one rule.
struct Verdict {
  std::string rule, family;
  bool refuted = false;
  rules::RuleStatus status = rules::RuleStatus::tested;
  std::string note;                       // in words: the grid, or the counterexample
  std::string proof;                      // the SMT-LIB text, of a rule that is proved
  std::size_t ranks = 3;                  // proved: for tensors of at most so many dims
  bool only = false;                      // proved: and not loaded for more (status_table.h)
  std::size_t equalities = 0, whole = 0;  // of the proof: how many of how many z3 confirms from definitions
  std::string why_not_proved;
  std::string stored_problem;                     // of the proof that is stored: why it is none
  double bounded_seconds = 0, proof_seconds = 0;  // of processor time; a z3 program's is not in it

  /// As a line of the status file.
  rules::StatusLine line(const rules::RuleInfo& info) const;
};

/// Checks one rule: exactly on its small examples, then by proof. Nothing that is stored counts: a stored
/// proof may answer unsat and prove something else. Throws only for errors of the program; a rule that fails
/// is a verdict.
Verdict verify_rule(const rules::RuleInfo& info, const VerifyOptions& options);

/// Why the stored proof of a rule does not count: it is missing, it was changed, or z3 (or the program of
/// that path) does not answer unsat to all that it asks. Empty: it counts, or the rule has none.
std::string check_stored_proof(const rules::RuleInfo& info, const std::string& z3);

/// What a z3 program says to a text, as run_smt does. Throws FileError where it cannot be run.
std::string run_z3_program(const std::string& program, const std::string& text);

/// Checks the rules of these numbers on `jobs` threads; `done` is called for each, from one thread at a time,
/// in order of completion. Verdicts come in the order of the numbers.
std::vector<Verdict> verify_rules(const rules::RuleSet& rules, const std::vector<std::size_t>& numbers,
                                  const VerifyOptions& options,
                                  const std::function<void(const Verdict&)>& done);

/// Writes statuses and proofs beside the files that the rules were read from (StatusTable::save); those of
/// rules that were not checked stay. `rules` are all that are in these files: statuses and proofs of others
/// are removed, and proofs of rules that are no longer proved.
void write_statuses(const rules::RuleSet& rules, const std::vector<Verdict>& verdicts);

}
