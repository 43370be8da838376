#pragma once

// Internal to core/rules: how far a match depends on the graph around it.

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// Sets `local` and `decided_by_bindings` of a rule that is compiled otherwise.
void find_locality(CompiledRule& rule);

}
