#pragma once

// Internal to core/rulegen: small graphs as a few bytes, for sets of millions of them.

#include <array>
#include <compare>
#include <cstdint>

#include "core/base/inline_vector.h"
#include "core/rulegen/enumerate/op_table.h"

namespace regraft::rulegen {

inline constexpr std::size_t kMostDepth = 5;  // nodes of a generated graph

/// A graph of at most kMostDepth nodes: its roots are what no node reads. Nodes in canonical order: of all
/// topological orders the one with the least bytes, operands of commutative ops ascending.
struct GraphCode {
  struct Node {
    std::uint8_t form = 0;
    std::array<std::int8_t, 2> inputs{};  // as in Ref: leaves negative, else 2 * node + port; unused: 127
    auto operator<=>(const Node&) const = default;
  };
  static constexpr std::int8_t kNoInput = 127;

  std::uint8_t count = 0;  // 0: the leaf nodes[0].inputs[0] alone
  std::array<Node, kMostDepth> nodes{};

  auto operator<=>(const GraphCode&) const = default;
};

/// The canonical code of the same graph; nodes that nothing reads stay roots.
GraphCode canonical(const GraphCode& code, const OpTable& table);

/// Outputs that no node reads, ascending, as 2 * node + port.
InlineVector<std::int8_t, 8> roots_of(const GraphCode& code, const OpTable& table);

/// Whether of leaves of equal shape it has the first ones: true of some renaming of any graph.
bool uses_first_leaves(const GraphCode& code, const OpTable& table);

/// Whether the nodes hang together over edges and shared leaves.
bool is_connected(const GraphCode& code);

Term to_term(const GraphCode& code, const OpTable& table);

}
