#pragma once

// Internal to core/proof: a rule's right side in one case.

#include "core/proof/symbolic/symbolic_rule.h"

namespace regraft::proof {

/// Makes what the right side says.
class RightSide {
 public:
  RightSide(const rules::CompiledRule& rule, ProofCase& state, SymbolicBindings& bindings)
      : rule_(rule), state_(state), b_(bindings) {}

  /// False where it cannot be made, so that the rule does not apply.
  bool run();

 private:
  bool step(const rules::RightStep& step, std::size_t member);
  bool operation(const rules::RightStep& step, std::size_t member);
  bool constant(const rules::RightStep& step, std::size_t member);
  SymbolicInputs operands(const rules::RightStep& step, std::size_t member);
  void bind(const rules::RightStep& step, std::size_t member, const std::vector<SymbolicTensor>& made);

  const rules::CompiledRule& rule_;
  ProofCase& state_;
  SymbolicBindings& b_;
};

}
