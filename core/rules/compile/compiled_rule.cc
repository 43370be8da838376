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

Code Code::make(Form form, Position at, std::vector<Code> args, std::string symbol) {
  Code c;
  c.form = form;
  c.at = at;
  c.args = std::move(args);
  c.symbol = std::move(symbol);
  return c;
}

Code Code::of(Quantity literal, Position at) {
  Code c = make(Form::literal, at);
  c.literal = std::move(literal);
  return c;
}

Code Code::of(Slot variable, Position at) {
  Code c = make(Form::variable, at);
  c.slot = variable;
  return c;
}

bool is_interior(const CompiledRule& rule, std::size_t node) {
  for (const OperandPattern& output : rule.nodes[node].outputs) {
    for (const PatternNode& user : rule.nodes) {
      for (const OperandPattern& operand : user.operands) {
        if (operand.slot == output.slot) return true;
      }
    }
  }
  return false;
}

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

}
