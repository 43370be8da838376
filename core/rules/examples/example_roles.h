#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/graph/op.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// Where the weight of a convolution is computed in the pattern, what is computed from which leaf: the
/// weight, or what it is convolved with. Of operations that keep the number of dims.
class ExampleRoles {
  using K = graph::OpKind;

 public:
  enum class Role : std::uint8_t { weight, image };

  explicit ExampleRoles(const CompiledRule& rule) : rule_(rule) {
    for (const PatternNode& node : rule.nodes) {
      if (kind_of(node) != K::conv || node.operands.size() < 2 || !producer(node.operands[1].slot)) continue;
      mark(node.operands[1].slot, Role::weight);
      mark(node.operands[0].slot, Role::image);
    }
  }

  std::optional<Role> of(Slot slot) const {
    const auto found = roles_.find(key(slot));
    return found == roles_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::pair<std::int16_t, std::uint16_t> key(Slot slot) { return {slot.member_set, slot.index}; }

  // One of several: of a class all are elementwise.
  static K kind_of(const PatternNode& node) {
    std::size_t k = 0;
    while (k + 1 < node.kinds.size() && !node.kinds.test(k)) ++k;
    return static_cast<K>(k);
  }
  const PatternNode* producer(Slot slot) const {
    for (const PatternNode& node : rule_.nodes)
      for (const OperandPattern& output : node.outputs)
        if (output.slot == slot) return &node;
    return nullptr;
  }
  static std::size_t operands_of_its_rank(K kind, std::size_t count) {
    if (kind == K::concat || graph::op_info(kind).is(graph::kElementwise)) return count;
    const bool keeps = kind == K::transpose || kind == K::pad || kind == K::slice || kind == K::split ||
                       kind == K::softmax || kind == K::tile || kind == K::matmul;
    return keeps && count > 0 ? 1 : 0;
  }
  void mark(Slot slot, Role role) {
    if (!roles_.try_emplace(key(slot), role).second) return;
    const PatternNode* node = producer(slot);
    if (!node) return;
    const std::size_t count = operands_of_its_rank(kind_of(*node), node->operands.size());
    for (std::size_t i = 0; i < count; ++i) mark(node->operands[i].slot, role);
  }

  const CompiledRule& rule_;
  std::map<std::pair<std::int16_t, std::uint16_t>, Role> roles_;
};

}
