#pragma once

// Internal to core/onnx: nodes that move from one graph into another, with names that are new there.

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>

#include "core/onnx/fresh_names.h"

namespace regraft::onnx {

/// Names for what nodes define, bodies within them included; what is not defined there keeps its name unless
/// it is given another one.
class NodeRenaming {
 public:
  /// `prefix`: of new names for all. With an empty one, what nothing else in the model is called keeps its
  /// name.
  NodeRenaming(FreshNames& names, std::string prefix) : names_(names), prefix_(std::move(prefix)) {}

  /// False where the name has one already. Empty stands for an input that is left out.
  bool set(const std::string& name, const std::string& to) { return changes_.emplace(name, to).second; }
  bool changes(const std::string& name) const { return changes_.contains(name); }
  /// Gives new names to the outputs of these nodes that have none yet.
  void define(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes);
  const std::string& of(const std::string& name) const;
  void apply(::onnx::NodeProto& node) const { apply(node, changes_); }

 private:
  using Changes = std::unordered_map<std::string, std::string>;
  std::string fresh(const std::string& name) const {
    return prefix_.empty() ? names_.moved(name) : names_.make(prefix_ + name);
  }
  void apply(::onnx::NodeProto& node, const Changes& changes) const;
  void apply(::onnx::GraphProto& body, Changes changes) const;

  FreshNames& names_;
  std::string prefix_;
  Changes changes_;
};

}
