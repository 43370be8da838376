#pragma once

// Internal to core/rules: how matching walks.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/compile/rule_reporter.h"

namespace regraft::rules {

/// From the nodes of a rule's left side to its steps, with what is special of sets of siblings. They lead
/// from an anchor along producers and consumers, each check at the first step that knows all that it reads.
/// Keeps references to what it is made of.
class MatchPlanner {
 public:
  /// `constants`: tensors that must be constants, and so connect nothing.
  MatchPlanner(CompiledRule& rule, const RuleReporter& reporter, const std::set<Slot>& constants)
      : rule_(rule), reporter_(reporter), constants_(constants) {}

  /// Once for a rule. Errors where the walk does not reach all nodes, or a check reads what nothing binds.
  void plan(std::vector<Check> checks);

 private:
  enum class Bound : std::uint8_t { tensor, quantity };

  void classify_member_sets();
  std::size_t choose_anchor() const;
  void walk(std::size_t node, Step::Via via, Slot from, std::uint32_t distance);
  bool walk_to_consumer();
  void schedule(std::vector<Check> checks);
  void schedule(Check check, std::size_t bound_at);
  void finish_siblings();
  std::optional<std::size_t> bound_at(const Code& code) const;

  CompiledRule& rule_;
  const RuleReporter& reporter_;
  const std::set<Slot>& constants_;
  std::map<std::pair<Bound, Slot>, std::size_t> bound_step_;
  std::vector<std::uint32_t> distances_;  // of nodes from the anchor
  std::vector<bool> planned_;
};

}
