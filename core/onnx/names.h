#pragma once

// Internal to core/onnx: which name each value of a rewritten graph gets.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// Names for the values of one graph. Values of the model keep theirs, graph outputs theirs whatever node
/// makes them now, all others get new ones. Where an old name has to give way (its owner is no longer the
/// output of that name), `renamed` tells.
class Names {
 public:
  Names(const ImportedModel& model, const graph::Graph& graph);

  /// Of an operation's output or a graph input; never empty for a used value.
  const std::string& of(graph::Value value);
  /// What a name of the model is called now.
  const std::string& renamed(const std::string& name) const;
  /// A name that nothing in the model has, starting with `stem`.
  std::string fresh(const std::string& stem);
  /// The node of `graph` whose NodeProto is written for this origin: one at most.
  bool owns_origin(graph::NodeId id) const;
  /// Graph outputs that need an Identity, with the values they copy.
  const std::vector<std::pair<std::string, graph::Value>>& copies() const { return copies_; }

 private:
  void collect_taken();
  void claim_origins();
  void name_outputs();
  std::string natural(graph::Value value) const;

  const ImportedModel& model_;
  const graph::Graph& graph_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> counters_;
  std::unordered_map<std::int32_t, graph::NodeId> owner_;
  std::unordered_map<std::uint64_t, std::string> names_;
  std::unordered_map<std::string, std::string> renamed_;
  std::vector<std::pair<std::string, graph::Value>> copies_;
};

}  // namespace regraft::onnx
