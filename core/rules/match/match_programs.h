#pragma once

// Internal to core/rules and core/cost: which rules a node can be the anchor of.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <tsl/robin_map.h>

#include "core/graph/graph.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// Dispatch by what stands at a node and right above it: its kind, the number of its inputs and what makes
/// the first of them. The rules that fit such a place are found when it is first met, and kept. So a node
/// costs one look-up however many rules there are. The result is a superset of the rules that match. One
/// thread.
class MatchPrograms {
 public:
  /// The rules outlive it.
  explicit MatchPrograms(const RuleSet& rules);

  /// Numbers of the rules that may match at this anchor, ascending; valid as long as the object.
  std::span<const std::uint32_t> at(const graph::Graph& graph, graph::NodeId anchor);

 private:
  static constexpr std::size_t kInputs = 4;
  static constexpr std::uint8_t kAbsent = 255;

  struct Place {
    graph::OpKind kind;
    std::size_t inputs = 0;
    std::array<std::uint8_t, kInputs> makers{};  // op kinds, or kAbsent
  };
  /// What a rule asks of the maker of one operand of its anchor.
  struct Maker {
    KindSet kinds;
    bool optional = false;
  };
  struct Program {
    std::uint32_t rule = 0;
    bool list = false;  // some operand stands for many: only the kind is looked at
    bool commutative = false;
    std::vector<Maker> makers;
  };

  static Program compile(const CompiledRule& rule, std::uint32_t number);
  static bool admits(const Program& program, const Place& place);

  std::vector<std::vector<Program>> by_kind_;
  struct Mixed {
    std::size_t operator()(std::uint64_t key) const { return key * 0x9e3779b97f4a7c15 >> 32; }
  };
  tsl::robin_map<std::uint64_t, std::vector<std::uint32_t>, Mixed> places_;
};

}
