#pragma once

// Internal to core/rules, core/proof and core/rulegen: over which element types a rule speaks.

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// Whether an operation computes with numbers, as opposed to moving, comparing or choosing them. What rules
/// claim of these holds over the reals: integers divide, overflow and round otherwise.
bool computes(graph::OpKind kind);
/// Whether a node of a pattern, or of a right side, must have floating elements: an operation that computes
/// and is named. Of a choice of elementwise operations (f:Binary) nothing is claimed that depends on which it
/// is, so that it may be any.
bool needs_floats(const PatternNode& node);
bool needs_floats(const RightStep& step);
/// Whether any operation of either side needs floating elements.
bool needs_floats(const CompiledRule& rule);

}
