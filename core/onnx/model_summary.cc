#include "core/onnx/model_summary.h"

#include <algorithm>

#include "core/onnx/declared_types.h"
#include "core/onnx/model_store.h"

namespace regraft::onnx {
namespace {

using graph::NodeId;
using graph::OpKind;

/// Bytes of a tensor where they lie; strings and dtypes of unknown size count what is stored.
std::uint64_t stored_bytes(const ModelStore& store, const ::onnx::TensorProto& tensor) {
  if (const auto size = raw_size_bytes(tensor)) return *size;
  return tensor.has_raw_data() ? store.payloads.of(tensor).size_bytes : 0;
}

std::uint64_t weight_bytes(const ModelStore& store) {
  std::uint64_t bytes = 0;
  for (const GraphScope& scope : store.scopes) {
    for (const auto& tensor : scope.proto->initializer()) bytes += stored_bytes(store, tensor);
    for (const auto& node : scope.proto->node())
      if (node.op_type() == "Constant")
        for (const auto& attribute : node.attribute())
          if (attribute.has_t()) bytes += stored_bytes(store, attribute.t());
  }
  return bytes;
}

/// "float32[n]"; what is no tensor as the model declares it: "optional sequence of float32[n]".
std::string text_of(graph::Tables& tables, graph::TypeId type, const ::onnx::TypeProto& declared,
                    const std::string& name) {
  const auto held = [&](const ::onnx::TypeProto& inner) {
    return text_of(tables, declared_type(tables, inner, name), inner, name);
  };
  if (declared.has_optional_type()) return "optional " + held(declared.optional_type().elem_type());
  if (declared.has_sequence_type()) return "sequence of " + held(declared.sequence_type().elem_type());
  if (declared.has_map_type())
    return "map of " + graph::dtype_name(static_cast<graph::DType>(declared.map_type().key_type())) + " to " +
           held(declared.map_type().value_type());
  return tables.describe(type);
}

void add_symbols(const graph::Tables& tables, const graph::TensorType& type,
                 std::vector<std::string>& symbols) {
  for (const graph::Dim dim : type.dims) {
    if (!graph::is_symbol(dim)) continue;
    const std::string& name = tables.symbol_name(graph::dim_symbol(dim));
    if (std::find(symbols.begin(), symbols.end(), name) == symbols.end()) symbols.push_back(name);
  }
}

}  // namespace

ModelSummary summarise(const ImportedModel& model) {
  const ModelStore& store = model.store();
  const auto& proto = store.model.graph();
  ModelSummary summary;
  summary.producer = store.model.producer_name();
  if (!store.model.producer_version().empty()) summary.producer += " " + store.model.producer_version();
  summary.ir_version = store.model.ir_version();
  for (const auto& opset : store.model.opset_import()) summary.opsets[opset.domain()] = opset.version();
  summary.nodes = static_cast<std::size_t>(proto.node_size());
  summary.initializers = static_cast<std::size_t>(proto.initializer_size());
  summary.weight_bytes = weight_bytes(store);
  summary.external_data = store.had_external_data;
  summary.known_values = model.known_values().size();
  for (int at = 0; at < proto.node_size(); ++at) ++summary.op_counts[model.op_type(at)];

  const graph::Graph& graph = model.graph();
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    const graph::Node& node = graph.node(id);
    if (node.kind == OpKind::opaque) ++summary.opaque_ops[model.op_type(node.origin)];
    if (node.kind != OpKind::input) continue;
    const std::string name = model.value_name({id, 0});
    const ::onnx::ValueInfoProto& declared = node.origin < proto.input_size()
                                                 ? proto.input(node.origin)
                                                 : ::onnx::ValueInfoProto::default_instance();
    summary.inputs.push_back({name, text_of(model.tables(), node.outputs[0], declared.type(), name)});
    add_symbols(model.tables(), graph.type({id, 0}), summary.symbols);
  }
  for (std::size_t at = 1; at < model.graph_count(); ++at)
    summary.bodies.push_back({model.graph_path(at), model.graph(at).operation_count(),
                              model.graph_runs(at).describe(model.tables())});
  for (int i = 0; i < proto.output_size(); ++i) {
    const ::onnx::ValueInfoProto& declared = proto.output(i);
    const graph::TypeId type = graph.type_id(graph.outputs()[static_cast<std::size_t>(i)]);
    const std::string& name = declared.name();
    summary.outputs.push_back({name, text_of(model.tables(), type, declared.type(), name)});
  }
  return summary;
}

}
