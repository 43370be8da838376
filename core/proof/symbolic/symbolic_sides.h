#pragma once

// Internal to core/proof: a rule's two sides in one case.

#include <optional>
#include <utility>
#include <vector>

#include "core/proof/symbolic/symbolic_tensor.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::proof {

/// What is to be equal in one case: each replaced value and what replaces it.
struct SymbolicSides {
  std::vector<std::pair<SymbolicTensor, SymbolicTensor>> replaced;
};

/// Goes through both sides of a rule in the case that the choices select. Nothing where the case is
/// impossible. Throws Unprovable.
std::optional<SymbolicSides> elaborate(const rules::CompiledRule& rule, ProofCase& state);

}
