#include "core/rules/compile/find_locality.h"

#include <algorithm>

namespace regraft::rules {
namespace {

bool reads_uses(const Code& code) {
  const bool here =
      code.form == Code::Form::call && (code.function == Function::uses || code.function == Function::output);
  return here || std::any_of(code.args.begin(), code.args.end(), reads_uses);
}

}  // namespace

// A rule is local unless it reads uses of values: only those are not seen from below.
void find_locality(CompiledRule& rule) {
  const auto counts_uses = [](const Check& check) { return reads_uses(check.code); };
  bool& decided = rule.decided_by_bindings;
  decided = std::none_of(rule.set_checks.begin(), rule.set_checks.end(), counts_uses);
  for (const RightStep& step : rule.right) {
    decided = decided && std::none_of(step.codes.begin(), step.codes.end(), reads_uses);
    for (const auto& [attr, code] : step.attrs) decided = decided && !reads_uses(code);
    for (const RightOperand& operand : step.operands) decided = decided && !reads_uses(operand.number);
  }
  rule.local = decided && std::none_of(rule.same.begin(), rule.same.end(), reads_uses) &&
               std::none_of(rule.order.begin(), rule.order.end(), reads_uses);
  for (const Step& step : rule.steps) {
    rule.local = rule.local && step.via != Step::Via::consumer &&
                 std::none_of(step.checks.begin(), step.checks.end(), counts_uses);
  }
}

}
