#include <algorithm>
#include <unordered_set>

#include "core/onnx/captures.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;

class Captures {
 public:
  void visit(const pb::NodeProto& node) {
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) visit(attribute.g());
      for (const pb::GraphProto& graph : attribute.graphs()) visit(graph);
    }
  }

  void visit(const pb::GraphProto& graph) {
    enter(graph);
    for (const pb::NodeProto& node : graph.node()) {
      for (const std::string& input : node.input()) use(input);
      visit(node);
    }
    for (const auto& output : graph.output()) use(output.name());
    scopes_.pop_back();
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  void enter(const pb::GraphProto& graph) {
    auto& scope = scopes_.emplace_back();
    for (const auto& input : graph.input()) scope.insert(input.name());
    for (const auto& tensor : graph.initializer()) scope.insert(tensor.name());
    for (const auto& sparse : graph.sparse_initializer()) scope.insert(sparse.values().name());
    for (const pb::NodeProto& node : graph.node())
      for (const std::string& output : node.output()) scope.insert(output);
  }

  void use(const std::string& name) {
    if (name.empty()) return;
    for (const auto& scope : scopes_)
      if (scope.contains(name)) return;
    if (seen_.insert(name).second) found_.push_back(name);
  }

  std::vector<std::unordered_set<std::string>> scopes_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> found_;
};

void rename_inside(pb::GraphProto& inner, std::unordered_map<std::string, std::string> changes) {
  for (const auto& input : inner.input()) changes.erase(input.name());
  for (const auto& tensor : inner.initializer()) changes.erase(tensor.name());
  for (const auto& sparse : inner.sparse_initializer()) changes.erase(sparse.values().name());
  for (const pb::NodeProto& node : inner.node())
    for (const std::string& output : node.output()) changes.erase(output);
  if (changes.empty()) return;
  const auto rename = [&](std::string& name) {
    if (const auto found = changes.find(name); found != changes.end()) name = found->second;
  };
  for (pb::NodeProto& node : *inner.mutable_node()) {
    for (std::string& input : *node.mutable_input()) rename(input);
    rename_captures(node, changes);
  }
  for (auto& output : *inner.mutable_output()) rename(*output.mutable_name());
}

}  // namespace

void rename_captures(pb::NodeProto& node, const std::unordered_map<std::string, std::string>& changes) {
  for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) rename_inside(*attribute.mutable_g(), changes);
    for (pb::GraphProto& inner : *attribute.mutable_graphs()) rename_inside(inner, changes);
  }
}

std::vector<std::string> captured_names(const pb::NodeProto& node) {
  Captures captures;
  captures.visit(node);
  return captures.take();
}

std::vector<std::string> captured_names(const pb::GraphProto& body) {
  Captures captures;
  captures.visit(body);
  return captures.take();
}

}
