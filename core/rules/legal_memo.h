#pragma once

// Internal to core/rules: remembers which matches are legal.

#include <unordered_map>
#include <vector>

#include "core/rules/bindings.h"

namespace regraft::rules {

/// One bit an output (the last for all from there on): whether anything uses it.
std::uint64_t used_outputs(const graph::Graph& graph, graph::NodeId node);

/// Whether matches are legal but for cycles, by what decides it: the rule, the matched operations and which
/// of their outputs are used, the types and weights of what is bound, which of it is the same value, and
/// which operand of two comes first.
/// Equal places in a graph, and the same place later, are checked once. Holds a bounded number of answers.
/// For rules that are local (CompiledRule). One thread.
class LegalMemo {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  /// Starts the description of a match of a rule.
  void begin(const graph::Graph& graph, std::uint32_t rule);
  /// Adds the left values and the nodes of one frame.
  void add(const graph::Graph& graph, const Frame& frame);
  /// The answer of check() for such a match, asked once.
  template <typename Check>
  bool legal(Check&& check) {
    const Hash128 key = hasher_.finish();
    if (const auto held = legal_.find(key); held != legal_.end()) return held->second;
    const bool answer = check();
    if (legal_.size() >= kMost) legal_.clear();
    legal_.emplace(key, answer);
    return answer;
  }

 private:
  /// In order of appearance.
  std::uint64_t number_of(graph::Value value);

  Hasher hasher_;
  std::vector<graph::Value> values_;  // by number
  std::unordered_map<Hash128, bool> legal_;
  std::uint64_t generation_ = 0;  // of the weights whose ids are in the keys
};

}  // namespace regraft::rules
