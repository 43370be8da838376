#include "core/rules/match/match_programs.h"

#include <algorithm>

namespace regraft::rules {

using graph::OpKind;

static_assert(graph::kOpKinds < 255);

namespace {

// What a guard alone says of the operand: const(x), or not const(x).
void narrow(const CompiledRule& rule, Slot slot, KindSet& kinds) {
  const auto weight = static_cast<std::size_t>(OpKind::weight);
  const auto tests = [&](const Code& code) {
    return code.form == Code::Form::call && code.function == Function::is_const &&
           std::find(code.tensors.begin(), code.tensors.end(), slot) != code.tensors.end();
  };
  for (const Step& step : rule.steps) {
    for (const Check& check : step.checks) {
      if (check.target) continue;
      const bool varies = check.code.form == Code::Form::negation && check.code.args[0].tensors.size() == 1 &&
                          tests(check.code.args[0]);
      if (tests(check.code)) kinds &= KindSet().set(weight);
      if (varies) kinds.reset(weight);
    }
  }
}

}  // namespace

MatchPrograms::MatchPrograms(const RuleSet& rules) : by_kind_(graph::kOpKinds) {
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    const CompiledRule& rule = rules.compiled(number);
    const Program program = compile(rule, number);
    for (std::size_t kind = 0; kind < graph::kOpKinds; ++kind) {
      if (rule.anchors.test(kind)) by_kind_[kind].push_back(program);
    }
  }
}

MatchPrograms::Program MatchPrograms::compile(const CompiledRule& rule, std::uint32_t number) {
  const PatternNode& anchor = rule.nodes[rule.steps[0].node];
  Program program;
  program.rule = number;
  program.commutative = anchor.commutative;
  for (const OperandPattern& operand : anchor.operands) {
    program.list = program.list || operand.sequence;
    Maker maker{KindSet().set(), operand.optional};
    for (const Step& step : rule.steps) {
      if (step.via == Step::Via::producer && step.from == operand.slot)
        maker.kinds &= rule.nodes[step.node].kinds;
    }
    narrow(rule, operand.slot, maker.kinds);
    program.makers.push_back(maker);
  }
  return program;
}

bool MatchPrograms::admits(const Program& program, const Place& place) {
  if (program.list) return true;
  if (place.inputs > program.makers.size()) return false;
  const auto fits = [&](bool swapped) {
    for (std::size_t i = 0; i < program.makers.size(); ++i) {
      const Maker& maker = program.makers[swapped ? 1 - i : i];
      if (i >= kInputs) continue;
      const std::uint8_t kind = place.makers[i];
      if (kind == kAbsent ? !maker.optional : !maker.kinds.test(kind)) return false;
    }
    return true;
  };
  return fits(false) || (program.commutative && program.makers.size() == 2 && fits(true));
}

std::span<const std::uint32_t> MatchPrograms::at(const graph::Graph& graph, graph::NodeId anchor) {
  const graph::Node& node = graph.node(anchor);
  Place place{node.kind, node.inputs.size(), {}};
  std::uint64_t key =
      static_cast<std::uint64_t>(node.kind) << 8 | std::min<std::size_t>(node.inputs.size(), 255);
  for (std::size_t i = 0; i < kInputs; ++i) {
    const bool present = i < node.inputs.size() && node.inputs[i].present();
    place.makers[i] = present ? static_cast<std::uint8_t>(graph.node(node.inputs[i].node).kind) : kAbsent;
    key = key << 8 | place.makers[i];
  }
  const auto [held, fresh] = places_.try_emplace(key);
  if (fresh) {
    for (const Program& program : by_kind_[static_cast<std::size_t>(node.kind)]) {
      if (admits(program, place)) held.value().push_back(program.rule);
    }
  }
  return held->second;
}

}
