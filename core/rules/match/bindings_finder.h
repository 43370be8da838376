#pragma once

// Internal to core/rules: from a match, named by its nodes, back to its bindings.

#include <span>
#include <vector>

#include "core/rules/match/matcher.h"
#include "core/rules/match/sibling_set.h"

namespace regraft::rules {

/// Finds the bindings of matches of one rule on one graph. Keeps its memory from match to match. One thread.
class BindingsFinder {
 public:
  /// Both outlive it.
  BindingsFinder(const CompiledRule& rule, const graph::Graph& graph)
      : rule_(rule), graph_(graph), matcher_(rule, graph), set_(rule) {}

  /// The bindings of the first way, in written order, in which the pattern lies on these nodes; valid until
  /// the next call. Null when it does not.
  Bindings* find(std::span<const graph::NodeId> nodes);

 private:
  /// Members at one root; of several ways with the same plain bindings the first counts.
  struct Found {
    std::vector<Member> members;  // the first `count`
    std::size_t count = 0;
  };

  Bindings* find_plain(std::span<const graph::NodeId> nodes);
  Bindings* find_set(std::span<const graph::NodeId> nodes);
  void members_at(graph::NodeId root, Found& out);
  const Member* pick(const Found& found, std::span<const graph::NodeId> own,
                     std::span<const graph::NodeId> plain) const;

  const CompiledRule& rule_;
  const graph::Graph& graph_;
  Matcher matcher_;
  Bindings set_;
  std::vector<Found> found_;           // by member
  std::vector<const Member*> chosen_;  // by member
};

}
