#pragma once

// Internal to core/onnx: names that nothing in a model has.

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace regraft::onnx {

/// Calls use(body) for each graph within the nodes of this one.
template <typename Use>
void for_each_body(const ::onnx::GraphProto& graph, const Use& use) {
  for (const ::onnx::NodeProto& node : graph.node()) {
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) use(attribute.g());
      for (const ::onnx::GraphProto& inner : attribute.graphs()) use(inner);
    }
  }
}

/// Adds the names that a graph and the bodies within define.
void collect_definitions(const ::onnx::GraphProto& graph, std::unordered_set<std::string>& names);

/// Names that no graph of a model has: one for all graphs of it, so that new names neither collide with those
/// around them nor hide them.
class FreshNames {
 public:
  explicit FreshNames(const ::onnx::GraphProto& main) { collect(main); }

  /// A name that nothing in the model has, starting with `stem`.
  std::string make(const std::string& stem);
  /// A name of the model for what it names in another of its graphs: itself where nothing else has it.
  std::string moved(const std::string& name) { return repeated_.contains(name) ? make(name) : name; }

 private:
  void collect(const ::onnx::GraphProto& graph);

  std::unordered_set<std::string> taken_, repeated_;  // repeated: several outputs or several nodes
  std::unordered_map<std::string, int> counters_;
};

}
