#include "core/exec/inputs/observe_sizes.h"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/file.h"
#include "core/exec/inputs/input_meaning.h"
#include "core/exec/runtime/model_skeleton.h"
#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {
namespace {

using Dims = std::vector<std::int64_t>;

/// A value of the graph with the dims that nothing gives.
struct Unknown {
  std::string value;
  graph::TypeId type;
};

std::vector<Unknown> unknown_values(const onnx::ImportedModel& model, const SymbolSizes& sizes) {
  std::vector<Unknown> unknown;
  const graph::Tables& tables = model.tables();
  const graph::Graph& graph = model.graph();
  const auto is_open = [&](graph::Dim dim) {
    return graph::is_symbol(dim) &&
           !Extent{-1, tables.symbol_name(graph::dim_symbol(dim))}.at(sizes).has_value();
  };
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    const graph::Node& node = graph.node(id);
    if (node.kind == graph::OpKind::input || node.kind == graph::OpKind::weight) continue;
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k)
      if (std::ranges::any_of(tables.type(node.outputs[k]).dims, is_open))
        unknown.push_back({model.value_name({id, k}), node.outputs[k]});
  }
  return unknown;
}

/// The shapes of what the nodes of the main graph make, as the runtime's profile of one run has them. It
/// numbers the nodes that are no Constants, and names one without a name by op and number.
std::unordered_map<std::string, Dims> profiled_shapes(const nlohmann::json& events,
                                                      const ::onnx::GraphProto& graph) {
  std::unordered_map<std::string, const nlohmann::json*> by_name;
  for (const auto& event : events)
    if (event.contains("args") && event["args"].contains("output_type_shape"))
      by_name.emplace(event.value("name", ""), &event["args"]);
  std::unordered_map<std::string, Dims> shapes;
  int number = 0;
  for (const auto& node : graph.node()) {
    if (node.op_type() == "Constant") continue;
    const std::string name =
        node.name().empty() ? node.op_type() + "_" + std::to_string(number) : node.name();
    const auto found = by_name.find(name + "_kernel_time");
    const std::string at = std::to_string(number++);
    if (found == by_name.end() || found->second->value("node_index", "") != at) continue;
    const nlohmann::json& made = (*found->second)["output_type_shape"];
    std::size_t k = 0;
    for (const std::string& output : node.output()) {
      if (output.empty() || k >= made.size()) continue;
      for (const auto& [dtype, dims] : made[k].items()) shapes[output] = dims.get<Dims>();
      ++k;
    }
  }
  return shapes;
}

}  // namespace

SymbolSizes observe_sizes(const onnx::ImportedModel& model, const SymbolSizes& sizes,
                          std::span<const Tensor> inputs) {
  const std::vector<Unknown> unknown = unknown_values(model, sizes);
  if (unknown.empty()) return {};
  const TempDir scratch("regraft_sizes");
  OrtSession session(model.path(), {Optimisation::none, 1, scratch.path() / "profile"});
  session.run(inputs);
  std::ifstream file(session.finish_profile());
  const auto shapes =
      profiled_shapes(nlohmann::json::parse(file, nullptr, false), read_skeleton(model.path()));
  SymbolSizes observed;
  for (const Unknown& one : unknown) {
    const auto shape = shapes.find(one.value);
    const graph::TensorType& type = model.tables().type(one.type);
    if (shape == shapes.end() || shape->second.size() != type.dims.size()) continue;
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis)
      if (graph::is_symbol(type.dims[axis]))
        observed.emplace(model.tables().symbol_name(graph::dim_symbol(type.dims[axis])), shape->second[axis]);
  }
  for (const auto& [dim, size] : sizes) observed.erase(dim);
  return observed;
}

}
