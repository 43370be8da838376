#pragma once

// Internal to core/onnx: every tensor of a model.

#include <onnx/onnx_pb.h>

namespace regraft::onnx {

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

}
