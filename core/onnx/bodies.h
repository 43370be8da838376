#pragma once

// Internal to core/onnx: what an If, Loop or Scan says about its bodies: the types that they begin with and
// give, and how often they run. Only what is sure is said. A value that one run of a body hands to the next
// keeps a dim only where the body returns it unchanged.

#include <onnx/onnx_pb.h>

#include <functional>
#include <vector>

#include "core/graph/tables.h"
#include "core/onnx/runs.h"

namespace regraft::onnx {

/// Whether the node, of the default domain, is one whose bodies are graphs of their own.
bool has_known_bodies(const ::onnx::NodeProto& node, std::int64_t opset);

/// Builds the body in an attribute of the node, with inputs of these types, and gives the types of its
/// outputs. Called again for the same attribute, it replaces what it built before.
using BuildBody =
    std::function<std::vector<graph::TypeId>(int attribute, const Runs& runs, const graph::TypeList& inputs)>;

/// Builds all bodies of the node; gives the types of its outputs, type_none() where nothing is sure. `depth`
/// bodies lie around it: deep ones are built once, with less known of what they carry.
graph::TypeList build_bodies(graph::Tables& tables, const ::onnx::NodeProto& node,
                             std::span<const graph::Operand> operands, int depth, const BuildBody& build);

}
