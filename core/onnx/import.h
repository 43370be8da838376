#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/onnx_error.h"

namespace regraft::onnx {

struct ModelStore;

struct ImportOptions {
  /// Values that follow from constants and static shapes are computed at import up to this many elements.
  std::size_t known_value_limit = 4096;
};

/// A value that the model computes but that is the same in every run, and the constant that it equals.
struct KnownValue {
  graph::Value value;
  graph::WeightId weight;
};

/// An ONNX model as a Graph, with all that the Graph leaves out, so that it can be written again.
///
/// Every NodeProto is one node whose `origin` is its index, except Constant nodes: they and the initializers
/// are weights (WeightExpr::source numbers initializers first, then Constant nodes), which have a node only
/// where they are used. Known ops of the default domain from opset 7 on are in canonical form; any other
/// node, and any node in a form that is not understood, is OpKind::opaque with the outer values that its
/// sub-graphs capture as extra inputs. Inputs of a node keep their places; operands that became attributes
/// are left out of the Graph but stay in the NodeProto. Initializers that callers may override are inputs
/// (origin: index of the graph input). Sparse initializers are inputs too, with origins from the number of
/// graph inputs on.
///
/// Owns the mapped files and the Tables: it outlives every Graph copied from graph(). Not thread-safe.
class ImportedModel {
 public:
  ImportedModel(std::unique_ptr<graph::Tables> tables, graph::Graph graph, std::unique_ptr<ModelStore> store);
  ImportedModel(ImportedModel&&) noexcept;
  ImportedModel& operator=(ImportedModel&&) noexcept;
  ~ImportedModel();

  graph::Tables& tables() const { return *tables_; }
  /// The model as it was read. Copy it to rewrite it.
  const graph::Graph& graph() const { return graph_; }

  /// Of the default domain; 0 when the model imports none.
  std::int64_t opset() const;
  /// Names of the graph inputs that a caller must or may give, and of the graph outputs, in order.
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  /// Of the node with this origin: its name (may be empty) and op type, "domain.OpType" outside the default
  /// domain.
  std::string node_name(std::int32_t origin) const;
  std::string op_type(std::int32_t origin) const;
  /// The name of a value of graph() in the model; empty for an absent output.
  std::string value_name(graph::Value value) const;
  /// Of the value of this name in the main graph, weights included; nothing where there is none.
  std::optional<graph::TypeId> type_of(const std::string& name) const;

  /// Values of graph() that are known at import though a node makes them (Shape of a static type, arithmetic
  /// on constants), by ascending node; small ones are literals, larger ones weight expressions no larger than
  /// their operands.
  const std::vector<KnownValue>& known_values() const;

  const std::filesystem::path& path() const;
  /// The files of external data, as the model names them: relative to its folder, sorted.
  const std::vector<std::string>& external_locations() const;
  const ModelStore& store() const { return *store_; }

 private:
  std::unique_ptr<graph::Tables> tables_;
  graph::Graph graph_;
  std::unique_ptr<ModelStore> store_;
};

/// Reads a model; its tensors stay in the mapped file (and in its external data files) until they are used.
/// Throws OnnxError when the file is missing, empty, truncated or no ONNX model, or contradicts itself.
ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options = {});

/// The same from memory, which must outlive the result. External data is looked for in `folder`.
ImportedModel import_model_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                                 const ImportOptions& options = {});

}  // namespace regraft::onnx
