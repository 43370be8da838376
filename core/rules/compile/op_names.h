#pragma once

// Internal to core/rules: how ops, classes of ops and attributes are written in rules.

#include <optional>
#include <string_view>
#include <vector>

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// The kinds that a name on the left stands for: one op ("Conv") or a class ("Unary": elementwise with one
/// input, "Binary": elementwise with two inputs and broadcasting, "Monotone": elementwise, one input,
/// non-decreasing). Empty: unknown.
KindSet kinds_of(std::string_view name);
/// The first of them.
graph::OpKind some_kind(const KindSet& kinds);
/// Names of ops and classes, for suggestions.
std::vector<std::string_view> known_op_names();

/// An attribute by its ONNX name or its short one: k, s, p, d, g (Conv and pooling), ta, tb (Gemm), eps,
/// sizes (Split).
std::optional<graph::Attr> attr_of(graph::OpKind kind, std::string_view name);
/// The attribute that stands at a position between braces: the order of the op table.
std::optional<graph::Attr> attr_at(graph::OpKind kind, std::size_t position);
/// Names of the attributes that an op takes.
std::vector<std::string_view> attr_names(graph::OpKind kind);
/// Attributes that every op in canonical form has although they have no constant default: a pattern must
/// mention them.
bool always_present(graph::OpKind kind, graph::Attr attr);

}
