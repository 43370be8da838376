#include "core/cost/fused_patterns.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/file.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::cost {
namespace {

using graph::OpKind;

/// The kernels whose time is known, by what a right side may say.
struct KnownKernel {
  OpKind kind;
  std::string_view approximate;
  KernelLaw law;
  double DeviceProfile::*ns_per_element;
};

constexpr std::array kKnownKernels{
    KnownKernel{OpKind::gelu, "", {OpKind::gelu, KernelForm::plain}, &DeviceProfile::gelu_ns},
    KnownKernel{OpKind::gelu, "tanh", {OpKind::gelu, KernelForm::by_tanh}, &DeviceProfile::gelu_ns},
    KnownKernel{OpKind::layer_norm, "", {OpKind::layer_norm}, &DeviceProfile::layer_norm_ns},
};

std::string_view approximation(const rules::RightStep& step) {
  for (const auto& [attr, code] : step.attrs)
    if (attr == graph::Attr::approximate) return code.literal.text;
  return "";
}

FusedPatterns::Kernel kernel_of(const rules::CompiledRule& pattern, const rules::RuleInfo& info) {
  const auto refuse = [&](const char* what, const char* remedy) {
    throw rules::RuleError("'" + info.name + "': " + what,
                           info.file.string() + ":" + std::to_string(info.line), remedy);
  };
  if (!pattern.member_sets.empty() || pattern.replacements.size() != 1)
    refuse("a kernel stands for one value, without sets", "name its root alone on the right");
  const rules::RightStep& made = pattern.right.back();
  const auto known = std::ranges::find_if(kKnownKernels, [&](const KnownKernel& kernel) {
    return made.form == rules::RightStep::Form::operation && !made.op && kernel.kind == made.kind &&
           kernel.approximate == approximation(made);
  });
  if (known == kKnownKernels.end())
    refuse("no time is known of this kernel", "use one of kKnownKernels (core/cost/fused_patterns.cc)");
  if (made.operands.empty() || !made.operands[0].slot)
    refuse("what the kernel goes over is no value of the pattern", "name one as its first operand");
  constexpr std::size_t kWholeNorm = 3;  // with scale and bias
  return {known->law, known->ns_per_element, made.operands[0].slot->index,
          made.kind == OpKind::layer_norm && made.operands.size() == kWholeNorm};
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

}  // namespace regraft::cost
