#include "core/onnx/fresh_names.h"

namespace regraft::onnx {

namespace pb = ::onnx;

void collect_definitions(const pb::GraphProto& graph, std::unordered_set<std::string>& names) {
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  for (const pb::NodeProto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  for_each_body(graph, [&](const pb::GraphProto& body) { collect_definitions(body, names); });
}

/// Names that are only referred to are taken as well.
void FreshNames::collect(const pb::GraphProto& graph) {
  std::unordered_set<std::string> nodes, values;
  const auto note = [&](std::unordered_set<std::string>& names, const std::string& name) {
    taken_.insert(name);
    if (!names.insert(name).second) repeated_.insert(name);
  };
  const auto refer = [&](const auto& self, const pb::GraphProto& inner) -> void {
    for (const auto& output : inner.output()) taken_.insert(output.name());
    for (const auto& input : inner.input()) note(values, input.name());
    for (const auto& tensor : inner.initializer()) note(values, tensor.name());
    for (const auto& sparse : inner.sparse_initializer()) note(values, sparse.values().name());
    for (const pb::NodeProto& node : inner.node()) {
      note(nodes, node.name());
      for (const std::string& output : node.output()) note(values, output);
      taken_.insert(node.input().begin(), node.input().end());
    }
    for_each_body(inner, [&](const pb::GraphProto& body) { self(self, body); });
  };
  refer(refer, graph);
}

std::string FreshNames::make(const std::string& stem) {
  while (true) {
    std::string name = stem + "_" + std::to_string(counters_[stem]++);
    if (taken_.insert(name).second) return name;
  }
}

}
