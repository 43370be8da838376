#pragma once

// Internal to core/rules and core/cost: finds the left side of a rule in a graph.

#include <optional>
#include <span>
#include <vector>

#include "core/rules/instantiate/bindings.h"

namespace regraft::rules {

/// Backtracking search for all ways in which a rule's pattern lies at an anchor node: of a rule with
/// siblings, of the pattern of one member (members[sibling_member_set] then holds one frame). Exact and
/// complete; guards are tested as soon as what they read is bound. Distinct ways may visit the same nodes
/// (commutative operands).
class Matcher {
 public:
  /// Called with the bindings and the nodes in the order of the steps; true ends the search. A view of a
  /// callable that lives as long as the call of run().
  class Found {
   public:
    template <typename Call>
    Found(const Call& call)  // implicit: stands for what is passed
        : call_(&call), invoke_([](const void* c, Bindings& bindings, std::span<const graph::NodeId> trace) {
            return static_cast<bool>((*static_cast<const Call*>(c))(bindings, trace));
          }) {}
    bool operator()(Bindings& bindings, std::span<const graph::NodeId> trace) const {
      return invoke_(call_, bindings, trace);
    }

   private:
    const void* call_;
    bool (*invoke_)(const void*, Bindings&, std::span<const graph::NodeId>);
  };

  Matcher(const CompiledRule& rule, const graph::Graph& graph)
      : rule_(rule), graph_(graph), bindings_(rule) {}

  /// With `expected`, only ways whose nodes begin with these. May be called again; the bindings are empty
  /// between calls.
  bool run(graph::NodeId anchor, std::span<const graph::NodeId> expected, const Found& found);
  /// A copy of what was found, to try a right side on; valid until the next one.
  Bindings& scratch(const Bindings& found) {
    if (scratch_) {
      *scratch_ = found;
    } else {
      scratch_.emplace(found);
    }
    return *scratch_;
  }

 private:
  struct Undo {
    enum class Form : std::uint8_t { tensor, quantity, op, member_set } form;
    Slot slot;
    std::size_t member;
  };

  bool step(std::size_t number, std::size_t member);
  bool consumers(std::size_t number, std::size_t member);
  bool node(std::size_t number, std::size_t member, graph::NodeId id);
  bool bind_node(const PatternNode& pattern, const graph::Node& node, std::size_t member);
  bool bind_outputs(const PatternNode& pattern, graph::NodeId id, std::size_t member);
  bool operands(std::size_t number, std::size_t member, std::span<const graph::Value> inputs,
                std::size_t pattern_at, std::size_t input_at);
  bool sequence(std::size_t number, std::size_t member, std::span<const graph::Value> inputs,
                std::size_t pattern_at, std::size_t input_at);
  bool bind_tensor(Slot slot, std::size_t member, graph::Value value);
  bool bind_quantity(Slot slot, std::size_t member, const graph::AttrValue& value);
  bool size_member_set(std::int16_t member_set, std::size_t count);
  void empty_member_set(std::size_t member_set);
  void undo_to(std::size_t mark);

  const CompiledRule& rule_;
  const graph::Graph& graph_;
  Bindings bindings_;
  std::optional<Bindings> scratch_;
  std::vector<bool> sized_;
  std::vector<Undo> trail_;
  std::vector<graph::NodeId> trace_;
  std::span<const graph::NodeId> expected_;
  const Found* found_ = nullptr;
  graph::NodeId anchor_ = graph::kNoNode;
};

}
