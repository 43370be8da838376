#pragma once

// Internal to core/onnx: what an ImportedModel keeps beside its Graph.

#include <onnx/onnx_pb.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/file.h"
#include "core/graph/graph.h"
#include "core/onnx/inline_branches.h"
#include "core/onnx/known_value.h"
#include "core/onnx/runs.h"
#include "core/onnx/tensor_data.h"

namespace regraft::onnx {

/// What a name stands for in a graph.
struct NamedValue {
  graph::Value value;  // not for weights
  graph::WeightId weight = graph::WeightId::none;
};

/// One graph of the model, and what ties it to its GraphProto.
struct GraphScope {
  const ::onnx::GraphProto* proto = nullptr;  // in ModelStore::model
  std::size_t outer = 0;                      // of a body: index of the graph that it lies in
  std::string path;                           // ImportedModel::graph_path()
  Runs runs;
  std::int32_t first_origin = 0;      // of its NodeProto 0; the others follow
  std::vector<std::string> captures;  // names of the inputs that come from outside, in order

  std::vector<graph::NodeId> nodes;                               // by NodeProto index; kNoNode for constants
  std::unordered_map<std::string, NamedValue> names;              // captured ones included
  std::unordered_map<graph::WeightId, std::string> weight_names;  // a name for each constant
  std::vector<KnownValue> known_values;
  std::optional<graph::Graph> graph;  // once it is built
  DecidedBranches decided;            // of its nodes

  const ::onnx::NodeProto& node(std::int32_t origin) const { return proto->node(origin - first_origin); }
  /// The node that was imported with this origin.
  graph::NodeId imported(std::int32_t origin) const {
    return nodes[static_cast<std::size_t>(origin - first_origin)];
  }
  /// The name of a graph input, by its origin.
  const std::string& input_name(std::int32_t origin) const;
  /// The name that the model has for a value of the imported graph; empty where there is none.
  std::string value_name(graph::Value value) const;
};

/// The body that an attribute of a node holds.
struct BodyRef {
  int attribute = 0;      // index in the node
  std::size_t scope = 0;  // index in ModelStore::scopes
};

struct ModelStore {
  std::filesystem::path path;
  std::vector<MappedFile> files;  // the model, then its external data files
  ::onnx::ModelProto model;       // slim; external tensors are placeholders too
  PayloadTable payloads;
  ByteStore owned;  // elements that were not stored as raw_data
  bool had_external_data = false;
  std::vector<std::string> external_locations;  // data files, relative to the model, sorted
  std::int64_t opset = 0;
  std::size_t inlined_calls = 0;

  /// Lets the system take back the pages of large contents that lie in a mapped file: they come back when
  /// they are read.
  void release(std::span<const std::byte> bytes) const;

  std::deque<GraphScope> scopes;  // the main graph, then bodies, each behind the graph that it lies in
  std::unordered_map<std::int32_t, std::vector<BodyRef>> bodies;  // of the node with this origin
  std::int32_t source_count = 0, origin_count = 0;

  const GraphScope& main() const { return scopes.front(); }
  /// The graph whose node has this origin.
  const GraphScope& scope_of(std::int32_t origin) const;
};

}
