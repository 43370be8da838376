#include "core/cost/fused_patterns.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/file.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::cost {
namespace {

using graph::OpKind;

/// The kernels whose time is known, by what a right side says.
struct KnownKernel {
  OpKind op;
  std::string_view approximate;
  KernelKind kind;
};

constexpr std::array kKnownKernels{
    KnownKernel{OpKind::gelu, "", {OpKind::gelu, KernelForm::plain}},
    KnownKernel{OpKind::gelu, "tanh", {OpKind::gelu, KernelForm::by_tanh}},
    KnownKernel{OpKind::layer_norm, "", {OpKind::layer_norm}},
    KnownKernel{OpKind::div, "", {OpKind::div}},
    KnownKernel{OpKind::matmul, "", {OpKind::matmul, KernelForm::quantised}},
};

std::string_view approximation(const rules::RightStep& step) {
  for (const auto& [attr, code] : step.attrs)
    if (attr == graph::Attr::approximate) return code.literal.text;
  return "";
}

bool holds(const std::vector<rules::OperandPattern>& values, const rules::OperandPattern& value) {
  return std::ranges::any_of(values, [&](const auto& other) { return other.slot == value.slot; });
}

/// Whether one of two operations of a pattern reads what the other makes.
bool are_next(const rules::PatternNode& a, const rules::PatternNode& b) {
  const auto reads = [](const rules::PatternNode& user, const rules::PatternNode& maker) {
    return std::ranges::any_of(maker.outputs, [&](const auto& made) { return holds(user.operands, made); });
  };
  return reads(a, b) || reads(b, a);
}

/// Edges from the root to the farthest operation of a pattern.
int reach(const rules::CompiledRule& pattern) {
  std::vector<std::uint16_t> level{pattern.steps[0].node};
  const auto count = static_cast<std::uint16_t>(pattern.nodes.size());
  std::vector<bool> seen(count);
  seen[level[0]] = true;
  for (int edges = 0;; ++edges) {
    std::vector<std::uint16_t> next;
    for (const std::uint16_t from : level)
      for (std::uint16_t to = 0; to < count; ++to)
        if (!seen[to] && are_next(pattern.nodes[from], pattern.nodes[to])) {
          seen[to] = true;
          next.push_back(to);
        }
    if (next.empty()) return edges;
    level = std::move(next);
  }
}

FusedPatterns::Kernel kernel_of(const rules::CompiledRule& pattern, const rules::RuleInfo& info) {
  const auto refuse = [&](const char* what, const std::string& remedy) {
    throw rules::RuleError("'" + info.name + "': " + what,
                           info.file.string() + ":" + std::to_string(info.line), remedy);
  };
  const bool one_operation = pattern.member_sets.empty() && pattern.replacements.size() == 1 &&
                             pattern.right.size() == 1 && !pattern.right[0].op &&
                             pattern.right[0].form == rules::RightStep::Form::operation;
  if (!one_operation) refuse("a kernel is one operation in place of one value", "as in Pow(x, 2) => Gelu(x)");
  const rules::RightStep& made = pattern.right[0];
  const auto is_leaf = [&](const rules::RightOperand& operand) {
    return operand.slot && std::ranges::find(pattern.leaves, *operand.slot) != pattern.leaves.end();
  };
  if (made.operands.empty() || !is_leaf(made.operands[0]))
    refuse("what the kernel goes over is no value that the pattern reads", "name one as its first operand");
  if (reach(pattern) >= kFusionRadius)
    refuse("it reaches too far from its root",
           "its operations are at most " + std::to_string(kFusionRadius - 1) + " edges away");
  FusedPatterns::Kernel kernel{.over = made.operands[0].slot->index};
  const auto known = std::ranges::find_if(kKnownKernels, [&](const KnownKernel& row) {
    return row.op == made.kind && row.approximate == approximation(made);
  });
  if (known == kKnownKernels.end()) return kernel;
  constexpr std::size_t kWholeNorm = 3;  // with scale and bias
  kernel.kind = known->kind;
  kernel.takes_addition = made.kind == OpKind::layer_norm && made.operands.size() == kWholeNorm;
  return kernel;
}

}  // namespace

FusedPatterns::FusedPatterns(rules::RuleSet patterns) : patterns_(std::move(patterns)) {
  for (std::size_t i = 0; i < patterns_.size(); ++i)
    kernels_.push_back(kernel_of(patterns_.compiled(i), patterns_.info(i)));
}

FusedPatterns FusedPatterns::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

FusedPatterns FusedPatterns::parse(std::string_view text, std::string_view file) {
  return FusedPatterns(rules::RuleSet::parse(text, file));
}

}
