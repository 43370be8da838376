#include "core/onnx/node_renaming.h"

#include <unordered_set>

namespace regraft::onnx {

namespace pb = ::onnx;

namespace {

const std::string& changed(const std::unordered_map<std::string, std::string>& changes,
                           const std::string& name) {
  const auto found = changes.find(name);
  return found == changes.end() ? name : found->second;
}

}  // namespace

void NodeRenaming::define(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
  for (const pb::NodeProto& node : nodes)
    for (const std::string& output : node.output())
      if (!output.empty() && !changes(output)) changes_[output] = fresh(output);
}

const std::string& NodeRenaming::of(const std::string& name) const {
  return changed(changes_, name);
}

void NodeRenaming::apply(pb::NodeProto& node, const Changes& changes) const {
  node.set_name(node.name().empty() ? names_.make(prefix_ + node.op_type()) : fresh(node.name()));
  for (std::string& input : *node.mutable_input()) input = std::string(changed(changes, input));
  for (std::string& output : *node.mutable_output()) output = std::string(changed(changes, output));
  for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) apply(*attribute.mutable_g(), changes);
    for (pb::GraphProto& inner : *attribute.mutable_graphs()) apply(inner, changes);
  }
}

/// Names of a body get new ones as well: none may hide one of the graph that it comes into.
void NodeRenaming::apply(pb::GraphProto& body, Changes changes) const {
  std::unordered_set<std::string> own;
  const auto define = [&](const std::string& name) {
    if (!name.empty() && own.insert(name).second) changes[name] = fresh(name);
    return name.empty() ? name : changes[name];
  };
  for (auto& input : *body.mutable_input()) input.set_name(define(input.name()));
  for (auto& tensor : *body.mutable_initializer()) tensor.set_name(define(tensor.name()));
  for (auto& sparse : *body.mutable_sparse_initializer())
    sparse.mutable_values()->set_name(define(sparse.values().name()));
  for (const pb::NodeProto& node : body.node())
    for (const std::string& output : node.output()) define(output);
  for (pb::NodeProto& node : *body.mutable_node()) apply(node, changes);
  for (auto& info : *body.mutable_value_info()) info.set_name(changed(changes, info.name()));
  for (auto& output : *body.mutable_output()) output.set_name(changed(changes, output.name()));
}

}
