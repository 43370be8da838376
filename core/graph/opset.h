#pragma once

#include <cstdint>
#include <string>

#include "core/graph/tables.h"

namespace regraft::graph {

/// The opset of the default domain in which an op first has the meaning that its OpKind has.
std::int64_t first_opset(OpKind kind);

/// Why an operation in canonical form cannot be written in the opset of the tables; empty when it can.
/// `inputs` are the types of its inputs. Rewrites ask before they make a node, the exporter when it writes
/// one.
std::string missing_form(const Tables& tables, OpKind kind, const AttrBlock& attrs,
                         std::span<const TypeId> inputs);

/// Why ONNX Runtime has no kernel on the CPU for an operation that the standard allows; empty when it has.
/// Rewrites ask, so that what they make runs wherever the model ran.
std::string missing_kernel(const Tables& tables, OpKind kind, std::span<const TypeId> inputs);

}
