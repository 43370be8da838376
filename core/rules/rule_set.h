#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/rules/rule_marks.h"

namespace regraft::rules {

class RuleError : public Error {
 public:
  using Error::Error;
};

/// How well a rule is known to be an identity over the reals, from best to least (core/synth): it follows
/// from the axioms, for all dims; it holds exactly on all small examples; random examples agree.
enum class RuleStatus : std::uint8_t { proved, bounded, tested };

struct CompiledRule;  // rules/compile.h, internal to core/rules

/// What others may know of a rule.
struct RuleInfo {
  std::string name;            // "conv-bn"
  std::string family;          // the file or section it stands in
  std::string text;            // the rule's own line without its marks, white space normalised
  std::filesystem::path file;  // that it was read from; its statuses and proofs lie beside it
  std::uint32_t line = 0;      // where it begins there
  RuleStatus status = RuleStatus::tested;
  /// The domain of a runtime's own op that the right side makes; empty: it makes standard ops alone.
  std::string domain = {};
  std::vector<RuleMark> marks = {};

  bool has(RuleMark mark) const;
};

/// Which rules of a file or folder are wanted.
struct RuleChoice {
  RuleStatus least = RuleStatus::bounded;
  /// Domains of a runtime's own ops that rules may make; others are left out.
  std::vector<std::string> domains = {};

  RuleChoice(RuleStatus worst = RuleStatus::bounded, std::vector<std::string> allowed = {})  // NOLINT
      : least(worst), domains(std::move(allowed)) {}
  /// Every rule that there is.
  static RuleChoice all();
};

/// An ordered set of rules. Rule numbers are positions in it.
class RuleSet {
 public:
  /// Reads one .rules file or every .rules file of a folder, in order of file name, and keeps the rules that
  /// make no op of a domain that was not allowed, and whose status (rules/rule_status.h) is `least` or
  /// better: portable output is the default. Where only proved rules are asked for, a rule matches only where
  /// no tensor has more dims than its proof covers; else what lies beyond is as good as bounded. Throws
  /// RuleError with file:line:column, and where there are none or none is left; FileError.
  static RuleSet load(const std::filesystem::path& file_or_folder, const RuleChoice& choice = {});
  /// All rules of a text, as tested.
  static RuleSet parse(std::string_view text, std::string_view file_name);
  /// One rule of a set by itself, as number 0: matched faster than among all. Of the rules that finite sets
  /// make of a line it is the one of that name; of every rank, whatever the set was loaded for.
  static RuleSet alone(const RuleInfo& info);

  RuleSet(RuleSet&&) noexcept;
  RuleSet& operator=(RuleSet&&) noexcept;
  ~RuleSet();

  std::size_t size() const { return infos_.size(); }
  const RuleInfo& info(std::size_t rule) const { return infos_[rule]; }
  const CompiledRule& compiled(std::size_t rule) const;
  /// Names of the rules that `load` left out, for their status.
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// The domain for whose sake `load` left this rule out; empty: it did not, or there is no such rule.
  std::string refused_domain(std::string_view rule) const;
  /// The number of the rule of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Of all rule texts, in order.
  Hash128 hash() const;
  /// Takes the rule of that name out, if there is one; those behind it get other numbers.
  void exclude(std::string_view name);
  /// Takes all rules out that have a mark.
  void exclude_marked();

 private:
  RuleSet();
  void append(std::string_view text, std::string_view file_name);
  void keep(const std::filesystem::path& source, const RuleChoice& choice);

  std::vector<RuleInfo> infos_;
  std::vector<std::string> left_out_;
  std::vector<std::pair<std::string, std::string>> other_domains_;  // rules left out, and their domains
  std::vector<std::unique_ptr<CompiledRule>> compiled_;
};

}  // namespace regraft::rules
