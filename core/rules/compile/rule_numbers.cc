#include "core/rules/compile/rule_numbers.h"

#include <algorithm>
#include <cmath>

namespace regraft::rules {
namespace {

class Collector {
 public:
  RuleNumbers found;

  void add(double value) {
    if (!std::isfinite(value)) return;
    add_once(found.reals, value);
    const double size = std::abs(value);
    if (size >= 2 && size <= kLargest && size == std::trunc(size))
      add_once(found.whole, static_cast<std::int64_t>(size));
  }
  void add(const Quantity& quantity) {
    if (quantity.kind == Quantity::Kind::real) add(quantity.real);
    if (quantity.kind == Quantity::Kind::integer && !is_symbolic(quantity.integer))
      add(static_cast<double>(quantity.integer));
    if (quantity.kind != Quantity::Kind::list) return;
    for (const std::int64_t element : quantity.list)
      if (!is_symbolic(element)) add(static_cast<double>(element));
  }
  void add(const Code& code) {
    if (code.form == Code::Form::literal) add(code.literal);
    for (const Code& arg : code.args) add(arg);
  }
  void add(const std::vector<Check>& checks) {
    for (const Check& check : checks) add(check.code);
  }
  void add(const std::vector<Code>& codes) {
    for (const Code& code : codes) add(code);
  }

 private:
  static constexpr double kLargest = 1e9;

  template <typename T>
  static void add_once(std::vector<T>& numbers, T value) {
    if (std::ranges::find(numbers, value) == numbers.end()) numbers.push_back(value);
  }
};

bool has_arithmetic(const Code& code) {
  return code.form == Code::Form::arithmetic || std::ranges::any_of(code.args, has_arithmetic);
}

}  // namespace

bool RuleNumbers::in_half_floats() const {
  constexpr double kLeast = 0x1p-14, kMost = 65504, kDigits = 0x1p11;
  return !computes && std::ranges::all_of(reals, [](double number) {
    const double size = std::abs(number);
    int power = 0;
    const double digits = kDigits * std::frexp(size, &power);
    return size == 0 || (size >= kLeast && size <= kMost && digits == std::trunc(digits));
  });
}

RuleNumbers RuleNumbers::of(const CompiledRule& rule) {
  Collector collector;
  for (const PatternNode& node : rule.nodes)
    for (const auto& [attr, value] : node.required) collector.add(Quantity::of(value));
  for (const Step& step : rule.steps) collector.add(step.checks);
  collector.add(rule.set_checks);
  collector.add(rule.same);
  collector.add(rule.order);
  for (const RightStep& step : rule.right) {
    for (const auto& [attr, code] : step.attrs) collector.add(code);
    for (const RightOperand& operand : step.operands) {
      collector.add(operand.number);
      collector.found.computes = collector.found.computes || has_arithmetic(operand.number);
    }
    collector.add(step.codes);
    const bool elements = step.form == RightStep::Form::full || step.form == RightStep::Form::values;
    collector.found.computes =
        collector.found.computes || (elements && std::ranges::any_of(step.codes, has_arithmetic));
  }
  return std::move(collector.found);
}

}
