#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/rules/lang/rule_error.h"
#include "core/rules/set/proof_archive.h"
#include "core/rules/set/rule_info.h"

namespace regraft::rules {

/// "proved", "bounded_checked" or "tested".
std::string_view status_name(RuleStatus status);
/// What bounded_checked was called; status files may still say so.
inline constexpr std::string_view kFormerBounded = "bounded";
std::optional<RuleStatus> status_from_name(std::string_view name);
/// As a status file says it: "bounded_checked", "proved:4", "proved:4-only". `ranks` and `only` are of proved
/// ones.
std::string status_word(RuleStatus status, std::size_t ranks, bool only);

/// The first 64 bits of SHA-256, in hex: they find what was changed by mistake. Files of before hold 128 or
/// 256.
std::string status_hash(std::string_view text);

/// What the checks of `regraft rules verify` are: raise it when examples come to look into a corner that they
/// did not look into before, or when the prover takes less for granted. 1: all before statuses said so.
inline constexpr std::uint32_t kChecker = 5;
/// Random matches that they compare beside a grid where nobody asks for another number. Notes leave it out.
inline constexpr std::size_t kUsualRandomMatches = 3000;

/// What is known of one rule, as a line of a status file.
struct StatusLine {
  std::string rule;  // its name, with the values of its finite sets
  RuleStatus status = RuleStatus::tested;
  std::string text_hash;   // status_hash() of the rule's name and text; an edited rule has another
  std::string proof_hash;  // status_hash() of its proof; of none "-"
  std::string note;        // how it was found: the grid that was enumerated, how many matches were compared
  std::size_t ranks = 3;   // proved: for tensors of at most so many dims; no proof is for fewer than 3
  std::uint32_t checker = kChecker;  // by which it was found
  bool only = false;                 // proved: with one dim more the two sides are not seen to be equal
};

/// Statuses as data, beside the rules: those of mine.rules in mine.status, one line a rule, "name status text
/// proof v4 note". The status of a proved rule says for which ranks: "proved:4", or "proved:4-only" where it
/// is loaded for these alone. v4 is the checker that found it. What an older or newer one found counts too,
/// and is reported (`found_by_older`). A status counts only while the hashes agree: a rule whose text was
/// edited, or whose proof was changed or lost, is tested, and never more. The hashes are no signature: a line
/// written by hand with the right hashes is believed here. `regraft rules verify` finds it out, since it
/// makes every proof again.
class StatusTable {
 public:
  StatusTable() = default;
  /// The statuses of a file of rules; empty where it has no status file. Throws RuleError with
  /// file:line:column, also where the status file is no file, and as ProofArchive::load.
  static StatusTable load(const std::filesystem::path& rule_file);
  /// Writes proofs and statuses beside the file of rules, each whole or not at all.
  void save(const std::filesystem::path& rule_file) const;

  /// The status that the rule has now.
  RuleStatus of(const RuleInfo& rule) const;
  /// The most dims of a tensor for which a proved rule is proved.
  std::size_t proved_ranks(const RuleInfo& rule) const;
  /// Whether it is to be loaded for these alone: its examples say that it holds for more, its proof that it
  /// may not.
  bool proved_ranks_only(const RuleInfo& rule) const;
  const StatusLine* find(std::string_view rule) const;
  /// Whether the status that the rule has now was found by checks that are no longer the present ones.
  bool found_by_older(const RuleInfo& rule) const;
  /// Whether it was found by checks that this program does not have.
  bool found_by_newer(const RuleInfo& rule) const;
  void set(StatusLine line);
  /// Drops the lines of all other rules, and the proofs that no line names.
  void keep_only(const std::set<std::string, std::less<>>& rules);
  ProofArchive& proofs() { return proofs_; }
  const ProofArchive& proofs() const { return proofs_; }
  /// All lines, sorted by name.
  std::string text() const;

  static std::filesystem::path path_of(const std::filesystem::path& rule_file);
  static std::string hash_of(const RuleInfo& rule);

 private:
  ProofArchive proofs_;
  std::map<std::string, StatusLine, std::less<>> lines_;
};

/// The tables of rules from many files, each read when a rule of its file is first asked for.
class StatusTables {
 public:
  /// As StatusTable::load.
  const StatusTable& of(const RuleInfo& rule);

 private:
  std::map<std::filesystem::path, StatusTable> by_file_;
};

}
