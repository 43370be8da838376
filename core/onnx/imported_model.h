#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/known_value.h"
#include "core/onnx/runs.h"

namespace regraft::onnx {

struct ModelStore;

/// An ONNX model as Graphs, with all that the Graphs leave out, so that it can be written again.
///
/// Graph 0 is the main one. The others are the bodies of If, Loop and Scan nodes, at any depth, each behind
/// the graph that it lies in. All share the Tables.
///
/// Every NodeProto is one node whose `origin` is its index; bodies count on, so that no two nodes of a model
/// share one. Constant nodes and initializers are weights instead (WeightExpr::source numbers them), which
/// have a node only where they are used. Known ops of the default domain from opset 7 on are in canonical
/// form. Any other node, or form that is not understood, is OpKind::opaque. The outer values that its
/// sub-graphs capture are extra inputs. Inputs of a node keep their places; operands that became attributes
/// are left out of the Graph but stay in the NodeProto. Initializers that callers may override are inputs
/// (origin: index of the graph input). Sparse initializers are inputs too, with origins from the number of
/// graph inputs on, and behind them the values that a body captures; captured constants are weights of the
/// body.
///
/// Owns the mapped files and the Tables: it outlives every Graph copied from graph(). Not thread-safe.
class ImportedModel {
 public:
  ImportedModel(std::unique_ptr<graph::Tables> tables, std::unique_ptr<ModelStore> store);
  ImportedModel(ImportedModel&&) noexcept;
  ImportedModel& operator=(ImportedModel&&) noexcept;
  ~ImportedModel();

  graph::Tables& tables() const { return *tables_; }
  /// The main graph and the bodies.
  std::size_t graph_count() const;
  /// A graph of the model as it was read. Copy it to rewrite it.
  const graph::Graph& graph(std::size_t at = 0) const;
  /// Where a graph lies: "If_12/then_branch/Loop_3/body", with the nodes' op types and places in their
  /// graphs; empty for the main one.
  const std::string& graph_path(std::size_t at) const;
  const Runs& graph_runs(std::size_t at) const;

  /// The opset of the default domain; 0 when the model imports none.
  std::int64_t opset() const;
  /// Op type of the node with this origin, "domain.OpType" outside the default domain.
  std::string op_type(std::int32_t origin) const;
  /// The name of a value of graph(at) in the model; empty for an absent output.
  std::string value_name(graph::Value value, std::size_t at = 0) const;
  /// The type of the main graph's value of this name, weights included; nothing where there is none.
  std::optional<graph::TypeId> type_of(const std::string& name) const;

  /// Values of graph(at) that are known at import though a node makes them (Shape of a static type,
  /// arithmetic on constants), by ascending node; small ones are literals, larger ones weight expressions no
  /// larger than their operands.
  const std::vector<KnownValue>& known_values(std::size_t at = 0) const;

  /// Calls of model-local functions that became nodes, and nodes If that became a branch.
  std::size_t inlined_calls() const;

  const std::filesystem::path& path() const;
  /// The files of external data, as the model names them: relative to its folder, sorted.
  const std::vector<std::string>& external_locations() const;
  const ModelStore& store() const { return *store_; }

 private:
  std::unique_ptr<graph::Tables> tables_;
  std::unique_ptr<ModelStore> store_;
};

}
