#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

namespace {

bool ready(const CompiledRule& rule, std::size_t node, const std::vector<bool>& done) {
  for (const OperandPattern& operand : rule.nodes[node].operands) {
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      for (const OperandPattern& output : rule.nodes[i].outputs) {
        if (output.slot == operand.slot && !done[i]) return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<std::size_t> pattern_order(const CompiledRule& rule) {
  std::vector<std::size_t> order;
  std::vector<bool> done(rule.nodes.size(), false);
  for (std::size_t before = order.size() + 1; order.size() != before;) {
    before = order.size();
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      if (done[i] || !ready(rule, i, done)) continue;
      done[i] = true;
      order.push_back(i);
    }
  }
  return order;
}

}  // namespace regraft::rules
