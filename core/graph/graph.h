#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/hash.h"
#include "core/graph/tables.h"

namespace regraft::graph {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

/// One output of a node. An absent optional input is Value{}.
struct Value {
  NodeId node = kNoNode;
  std::uint32_t output = 0;

  bool present() const { return node != kNoNode; }
  auto operator<=>(const Value&) const = default;
};

/// Input `slot` of node `user`, or graph output `slot` when user is kGraphOutput.
struct Use {
  NodeId user = kNoNode;
  std::uint32_t slot = 0;

  auto operator<=>(const Use&) const = default;
};
inline constexpr NodeId kGraphOutput = kNoNode - 1;

struct Node {
  OpKind kind = OpKind::opaque;
  AttrId attrs{};
  SignatureId signature{};
  WeightId weight = WeightId::none;  // for OpKind::weight
  /// For nodes that came from the model: index of the NodeProto; for inputs, of the graph input. -1: made by
  /// a rewrite.
  std::int32_t origin = -1;
  InlineVector<Value, 4> inputs;
  TypeList outputs;
};

/// A computation graph that is rewritten: nodes with stable ids, uses in both directions, and an edit log.
///
/// Every change is one of four primitives (add, remove, set_input, set_output), each O(degree). Each is
/// logged, so undo_to() restores an earlier state exactly, ids included. Ids are never reused while their
/// node can come back. Use lists are sorted by (user, slot). Copying a graph copies its nodes; both share the
/// Tables. Not thread-safe. Errors: GraphError on an edit that would break an invariant.
class Graph {
 public:
  explicit Graph(Tables& tables) : tables_(&tables), hold_(tables.holds()) {}
  /// A copy that refers to `tables`, a copy of the other's Tables.
  Graph(const Graph& other, Tables& tables);

  // --- reading
  Tables& tables() const { return *tables_; }
  bool alive(NodeId id) const { return id < alive_.size() && alive_[id] != 0; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const AttrBlock& attrs(NodeId id) const { return tables_->attrs(nodes_[id].attrs); }
  TypeId type_id(Value value) const { return nodes_[value.node].outputs[value.output]; }
  const TensorType& type(Value value) const { return tables_->type(type_id(value)); }
  std::span<const Use> uses(NodeId id) const { return uses_[id]; }
  std::size_t use_count(Value value) const;
  std::span<const Value> outputs() const { return outputs_; }
  bool is_graph_output(Value value) const;
  /// The weight a value stands for, or WeightId::none.
  WeightId weight_of(Value value) const;
  /// What a node's signature is by its kind, attributes and operands.
  SignatureId signature_of(const Node& node) const;
  /// One past the largest id ever used; ids below may be dead.
  NodeId id_bound() const { return static_cast<NodeId>(nodes_.size()); }
  /// Live nodes of any kind.
  std::size_t live_count() const { return live_count_; }
  /// Live nodes other than inputs and weights: what users call the nodes of a graph.
  std::size_t operation_count() const { return operation_count_; }

  // --- editing (logged)
  /// A node in canonical form; output types are inferred when `outputs` is empty.
  NodeId add(OpKind kind, AttrId attrs, std::span<const Value> inputs, std::span<const TypeId> outputs = {},
             std::int32_t origin = -1);
  NodeId add_input(TypeId type, std::int32_t origin);
  /// The node of a weight: the live one if there is one, else a new one.
  Value weight_value(WeightId weight);
  /// The node must have no uses.
  void remove(NodeId id);
  void set_input(NodeId user, std::uint32_t slot, Value value);
  void set_output(std::uint32_t slot, Value value);
  void add_output(Value value);  // at import only
  /// Points every use of `from`, graph outputs included, at `to`. Types may differ only in what is known of
  /// them.
  void replace_uses(Value from, Value to);
  /// Removes the given nodes where they have no uses, then what that leaves without uses. Graph inputs stay.
  void remove_dead(std::span<const NodeId> candidates);

  // --- edit log
  using Mark = std::size_t;
  Mark mark() const { return log_.size(); }
  void undo_to(Mark mark);
  /// Ids added or removed or whose inputs or uses changed since `mark`, ascending, dead ones included.
  std::vector<NodeId> touched_since(Mark mark) const;
  /// The same into `ids`, whose memory is kept.
  void touched_since(Mark mark, std::vector<NodeId>& ids) const;
  /// Forgets the log: the present state becomes the base.
  void commit();

 private:
  struct Edit {
    enum class Form : std::uint8_t { add, remove, input, output } form;
    NodeId node = kNoNode;
    std::uint32_t slot = 0;
    Value before, after;
    Node removed;  // for remove
  };

  void link(Value value, Use use);
  void unlink(Value value, Use use);
  NodeId place(Node node);
  void attach(NodeId id);
  void detach(NodeId id);
  void hold_weight(WeightId weight);
  void hold_live_weights();
  void name(Node& node);

  Tables* tables_;
  TablesHold hold_;   // of what the nodes and the log refer to
  TablesBound base_;  // of what the nodes refer to when the log is empty, but weights
  std::vector<Node> nodes_;
  std::vector<std::uint8_t> alive_;
  std::vector<InlineVector<Use, 4>> uses_;
  std::vector<Value> outputs_;
  std::vector<NodeId> weight_nodes_;  // by WeightId; kNoNode where none is live
  std::vector<Edit> log_;
  std::size_t live_count_ = 0;
  std::size_t operation_count_ = 0;
};

/// Values as inference sees them.
InlineVector<Operand, 4> operands_of(const Graph& graph, std::span<const Value> values);

}
