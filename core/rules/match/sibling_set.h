#pragma once

// Internal to core/rules: rules whose pattern matches several members at once.

#include <vector>

#include "core/rules/instantiate/bindings.h"
#include "core/rules/match/matcher.h"

namespace regraft::rules {

/// One member that matched: its bindings (one member frame) and its nodes in the order of the steps.
struct Member {
  graph::NodeId root = graph::kNoNode;
  Bindings bindings;
  std::vector<Quantity> same;       // values of the rule's same(...) expressions
  std::vector<std::int64_t> order;  // values of its sort(...) expressions
};

/// Computes a member's keys, by which members are compatible and ordered, from its bindings. False: it is no
/// member.
bool complete(const CompiledRule& rule, const graph::Graph& graph, Member& member);

/// Whether two members can be in one set: equal plain bindings and equal same(...) values.
bool compatible(const Member& a, const Member& b);

/// Adds the frames of the other members of a set to the bindings of the first.
void assemble(const CompiledRule& rule, std::span<const Member* const> others, Bindings& first);

/// The nodes of a set as a match names them: of each member its own, then the plain ones.
void append_set_nodes(const CompiledRule& rule, std::span<const Member* const> members,
                      InlineVector<graph::NodeId, 8>& nodes);

/// Whether the checks on whole sets hold.
bool passes_set_checks(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings);

}
