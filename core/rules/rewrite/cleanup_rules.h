#pragma once

// Internal to core/rules: rules that clean-up carries out.

#include <memory>
#include <optional>
#include <string_view>

#include "core/graph/graph.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// Rules of this family ("[clean-up]" in a file of rules) are exact to the bit, and pay wherever they leave a
/// node less: clean-up carries them out, searches may as well.
inline constexpr std::string_view kCleanUpFamily = "clean-up";

/// Carries out the rules of the family kCleanUpFamily on one graph, node by node. One thread.
class CleanupRules {
 public:
  /// Both outlive it.
  CleanupRules(graph::Graph& graph, const RuleSet& rules);
  ~CleanupRules();

  /// Applies the first of them that matches at this anchor and leaves fewer operations; its name. The graph
  /// is unchanged where there is none.
  std::optional<std::string_view> apply(graph::NodeId anchor);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}
