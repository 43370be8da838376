#pragma once

#include <optional>

#include "core/graph/graph.h"

namespace regraft::cost {

/// A graph as the runtime's fusions look at it: Identity nodes are not there. Reads around a node; a fusion
/// that asks it sees every edit that it depends on (core/cost/fusion.h).
class Neighbourhood {
 public:
  explicit Neighbourhood(const graph::Graph& graph) : graph_(graph) {}

  graph::OpKind kind(graph::NodeId node) const { return graph_.node(node).kind; }
  bool is(graph::NodeId node, graph::OpKind kind) const {
    return node != graph::kNoNode && this->kind(node) == kind;
  }
  const graph::AttrBlock& attrs(graph::NodeId node) const { return graph_.attrs(node); }
  const graph::TensorType& type(graph::Value value) const { return graph_.type(value); }
  /// The value of a constant of one element.
  std::optional<double> number(graph::Value value) const;

  /// The value behind Identity nodes.
  graph::Value source(graph::Value value) const;
  std::size_t input_count(graph::NodeId node) const { return graph_.node(node).inputs.size(); }
  /// The value at an input, behind Identity nodes; absent where there is none.
  graph::Value input(graph::NodeId node, std::size_t slot) const;
  /// The only user of the only output of a node, behind Identity nodes; else kNoNode.
  graph::NodeId only_user(graph::NodeId node) const;
  /// The users of the only output of a node, behind Identity nodes, each once; none where there are more than
  /// kMostUsers, or where the model gives it out.
  static constexpr std::size_t kMostUsers = 4;
  using Users = InlineVector<graph::NodeId, kMostUsers>;
  Users users(graph::NodeId node) const;
  /// Whether more than kMostUsers read it directly: `users` has none then, whatever stands behind Identity
  /// nodes.
  bool has_many_users(graph::NodeId node) const;

  /// The scalar constant at an input of a two-input node, and the other input.
  struct Scaled {
    double factor = 0;
    graph::Value value;
    bool found = false;
  };
  Scaled scaled(graph::NodeId node) const;

 private:
  bool add_users(graph::NodeId node, Users& users) const;

  const graph::Graph& graph_;
};

// Inline: all that the cost model follows after an edit goes through these.

inline graph::Value Neighbourhood::source(graph::Value value) const {
  while (value.present() && kind(value.node) == graph::OpKind::identity)
    value = graph_.node(value.node).inputs[0];
  return value;
}

inline graph::Value Neighbourhood::input(graph::NodeId node, std::size_t slot) const {
  const auto& inputs = graph_.node(node).inputs;
  return slot < inputs.size() ? source(inputs[slot]) : graph::Value{};
}

inline graph::NodeId Neighbourhood::only_user(graph::NodeId node) const {
  while (true) {
    const auto uses = graph_.uses(node);
    if (uses.size() != 1 || uses[0].user == graph::kGraphOutput || graph_.node(node).outputs.size() != 1)
      return graph::kNoNode;
    node = uses[0].user;
    if (kind(node) != graph::OpKind::identity) return node;
  }
}

}
