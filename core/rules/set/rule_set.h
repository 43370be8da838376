#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/set/rule_info.h"

namespace regraft::rules {

struct CompiledRule;  // internal to core/rules

/// An ordered set of rules. Rule numbers are positions in it.
class RuleSet {
 public:
  /// Reads one .rules file or every .rules file of a folder, in order of file name. Keeps the rules whose
  /// status (status_table.h) is `least` or better, and that make no op of a domain that was not allowed:
  /// portable output is the default. Where only proved rules are asked for, a rule matches only where no
  /// tensor has more dims than its proof covers; else it counts as bounded_checked there. Throws RuleError
  /// with file:line:column, where a pattern has an op without an OpKind, and where there are no rules or none
  /// is left. Throws FileError.
  static RuleSet load(const std::filesystem::path& file_or_folder, const RuleChoice& choice = {});
  /// All rules of a text, as tested. Patterns may have all ops of core/graph/opaque_work.cc.
  static RuleSet parse(std::string_view text, std::string_view file_name);
  /// One rule of a set alone, as number 0: it matches faster than among all. Where finite sets make several
  /// rules of a line, it is the one of that name. It has no limit of ranks, whatever the set was loaded for.
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
  /// The rules that one move carries out with this one, it among them, in order: those of a family that is
  /// marked `together`, with no values of finite sets or this one's; else it alone.
  std::vector<std::uint32_t> together_with(std::uint32_t rule) const;
  /// A hash of all rule texts, in order.
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

}
