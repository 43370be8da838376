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
#include "core/onnx/branches.h"
#include "core/onnx/import.h"
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

/// The version of a runtime's own domain at which its ops are what the op table says.
inline constexpr std::int64_t kRuntimeDomainVersion = 1;

/// The version of a domain that the model imports; 0 when it does not.
std::int64_t imported_version(const ::onnx::ModelProto& model, std::string_view domain);

/// Names that a node's sub-graphs take from outside, each once, in the order of first use.
std::vector<std::string> captured_names(const ::onnx::NodeProto& node);
/// The same of one body.
std::vector<std::string> captured_names(const ::onnx::GraphProto& body);

/// Renames what the node's sub-graphs take from outside.
void rename_captures(::onnx::NodeProto& node, const std::unordered_map<std::string, std::string>& changes);

/// Calls visit(TensorProto&, bool is_initializer) for every tensor of the model, sub-graphs and functions
/// included.
template <typename Graph, typename Visit>
void for_each_tensor_of_graph(Graph& graph, const Visit& visit);

template <typename Sparse, typename Visit>
void for_each_tensor_of_sparse(Sparse& sparse, const Visit& visit) {
  visit(*sparse.mutable_values(), false);
  visit(*sparse.mutable_indices(), false);
}

template <typename Node, typename Visit>
void for_each_tensor_of_node(Node& node, const Visit& visit) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    auto& attribute = *node.mutable_attribute(i);
    if (attribute.has_t()) visit(*attribute.mutable_t(), false);
    for (auto& tensor : *attribute.mutable_tensors()) visit(tensor, false);
    if (attribute.has_g()) for_each_tensor_of_graph(*attribute.mutable_g(), visit);
    for (auto& graph : *attribute.mutable_graphs()) for_each_tensor_of_graph(graph, visit);
    if (attribute.has_sparse_tensor()) for_each_tensor_of_sparse(*attribute.mutable_sparse_tensor(), visit);
    for (auto& sparse : *attribute.mutable_sparse_tensors()) for_each_tensor_of_sparse(sparse, visit);
  }
}

template <typename Graph, typename Visit>
void for_each_tensor_of_graph(Graph& graph, const Visit& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor, true);
  for (auto& sparse : *graph.mutable_sparse_initializer()) for_each_tensor_of_sparse(sparse, visit);
  for (auto& node : *graph.mutable_node()) for_each_tensor_of_node(node, visit);
}

template <typename Visit>
void for_each_tensor(::onnx::ModelProto& model, const Visit& visit) {
  for_each_tensor_of_graph(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions())
    for (auto& node : *function.mutable_node()) for_each_tensor_of_node(node, visit);
  for (auto& training : *model.mutable_training_info()) {
    if (training.has_initialization()) for_each_tensor_of_graph(*training.mutable_initialization(), visit);
    if (training.has_algorithm()) for_each_tensor_of_graph(*training.mutable_algorithm(), visit);
  }
}

}  // namespace regraft::onnx
