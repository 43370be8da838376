#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/tar.h"

namespace regraft::rules {

/// The proofs of one file of rules as SMT-LIB texts, packed beside it: those of mine.rules in
/// mine.proofs.tar.xz, of rule a/sum as a.sum.smt2. The same proofs give the same bytes.
class ProofArchive {
 public:
  static std::filesystem::path path_of(const std::filesystem::path& rule_file);
  /// The name that a rule's proof has in it.
  static std::string member_of(std::string_view rule);

  ProofArchive() = default;
  /// The archive of a file of rules; empty where it has none. Throws RuleError where it is truncated,
  /// damaged or holds more than 256 MiB.
  static ProofArchive load(const std::filesystem::path& rule_file);
  /// Writes it beside the file of rules, whole or not at all; where nothing is in it, there is no file.
  void save(const std::filesystem::path& rule_file) const;

  /// The proof of a rule, or null.
  const std::string* find(std::string_view rule) const;
  /// Sets the proof of a rule; an empty text removes it.
  void set(std::string_view rule, std::string proof);
  /// Removes the proofs of all other rules.
  void keep_only(const std::set<std::string, std::less<>>& rules);
  std::size_t size() const { return proofs_.size(); }

 private:
  FileTexts proofs_;
};

}
