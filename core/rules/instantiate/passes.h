#pragma once

// Internal to core/rules: guards.

#include "core/rules/instantiate/bindings.h"

namespace regraft::rules {

/// Evaluates a check, for each member where it has a member set: binds its target, or says whether the guard
/// holds.
bool passes(const Check& check, const graph::Graph& graph, Bindings& bindings);

}
