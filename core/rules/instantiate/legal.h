#pragma once

// Internal to core/rules: where a match may be applied.

#include "core/rules/instantiate/builder.h"
#include "core/rules/instantiate/reachability.h"

namespace regraft::rules {

/// Whether the match may be applied, cycles apart: all ranks are known, the right side can be made, replaced
/// values keep their types, and something changes. Empty, or the reason why not, which lives until the memo
/// is used again. Binds the right side's slots (types only).
std::string_view check_types(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings,
                             OperationMemo& memo);

/// Whether the rank of everything that the matched nodes take and give is known: types without one say
/// nothing of each other, and no site of theirs could be checked.
bool has_known_ranks(const graph::Graph& graph, const Bindings& bindings);

/// The activations of the left side that the right side reads, ascending. It is taken to read all of them for
/// each root.
InlineVector<graph::Value, 8> read_values(const CompiledRule& rule, Bindings& bindings);

/// Whether replacing makes a cycle: one of the left values that the right side reads is, or can be reached
/// from, a replaced value.
bool makes_cycle(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings,
                 Reachability& reachability);

/// Why the rule does not cover the bound values: integers where it computes, a dim of 0, more dims than its
/// proof covers. Empty: it covers them.
std::string_view outside_of_claim(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings);

}
