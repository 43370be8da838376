#pragma once

// Internal to core/rules, core/proof and core/rulegen: small graphs in which a rule applies.

#include "core/graph/graph_builder.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/examples/choices.h"
#include "core/rules/examples/example_limits.h"

namespace regraft::rules {

/// Adds an example to the builder's graph: the operations of the rule's pattern on leaves of chosen shapes,
/// with chosen attributes; what they make that nobody reads become graph outputs. What the guards say of
/// single variables is a hint; the rest is left to chance: callers ask the matcher whether the rule matches,
/// and go on where it does not. Numbers come from the builder's stream. False where the choices make no
/// graph.
bool make_example(const CompiledRule& rule, graph::GraphBuilder& builder, Choices& choices,
                  const ExampleLimits& limits = {});

}
