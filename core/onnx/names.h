#pragma once

// Internal to core/onnx: which name each value of a rewritten graph gets.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/fresh_names.h"
#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// Names for the values of one graph. Values of the model keep theirs, graph outputs theirs whatever node
/// makes them now, all others get new ones. Where an old name has to give way (its owner is no longer the
/// output of that name), `renamed` tells.
class Names {
 public:
  Names(const GraphScope& scope, const graph::Graph& graph, FreshNames& unused);

  /// The name of an operation's output or a graph input; never empty for a used value.
  const std::string& of(graph::Value value);
  /// What a name of the model is called now.
  const std::string& renamed(const std::string& name) const;
  /// See FreshNames::make().
  std::string fresh(const std::string& stem) { return unused_.make(stem); }
  /// The model's name of a constant; empty where this graph has none.
  std::string of(graph::WeightId weight) const;
  /// Whether a body within the graph defines it: then it may stand for something else in there.
  bool is_hidden_inside(const std::string& name) const { return inside_.contains(name); }
  /// The node of `graph` whose NodeProto is written for this origin: one at most.
  bool owns_origin(graph::NodeId id) const;
  /// Graph outputs that need an Identity, with the values they copy.
  const std::vector<std::pair<std::string, graph::Value>>& copies() const { return copies_; }

 private:
  void claim_origins();
  void name_outputs();
  std::string natural(graph::Value value) const;

  const GraphScope& scope_;
  const graph::Graph& graph_;
  FreshNames& unused_;
  std::unordered_set<std::string> inside_;  // names that bodies within define
  std::unordered_map<std::int32_t, graph::NodeId> owner_;
  std::unordered_map<std::uint64_t, std::string> names_;
  std::unordered_map<std::string, std::string> renamed_;
  std::vector<std::pair<std::string, graph::Value>> copies_;
};

}
