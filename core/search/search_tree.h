#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/env/rewrite_state.h"

namespace regraft::search {

/// Graphs seen by a search, each as its parent and the rewrite that leads from there: a few dozen bytes
/// instead of a graph. Node 0 is the start. Moving from one to another undoes up to the common ancestor and
/// applies what lies below it.
class SearchTree {
 public:
  using Id = std::uint32_t;
  /// When searches forget the half that promises least: 40 MB.
  static constexpr std::size_t kMostNodes = std::size_t{1} << 19;

  /// `state` is at the start and outlives the tree. Callers that move it without go_to() call follow(), or
  /// take it back.
  explicit SearchTree(env::RewriteState& state);

  Id add(Id parent, const rules::Match& match);
  /// Throws RuleError where the rewriter refuses a rewrite; the state then stands at the last graph reached.
  void go_to(Id id);
  /// Adds the rewrites that the state has made since it last went somewhere, one node each; the last one, at
  /// which it stands.
  Id follow();
  std::size_t size() const { return nodes_.size(); }
  bool is_full() const { return nodes_.size() >= kMostNodes; }
  /// Forgets all graphs but these, those on the way to them, and those on the way to where the state stands;
  /// the new ids of these, which keep their order.
  std::vector<Id> keep(std::span<const Id> wanted);

 private:
  struct Node {
    Id parent = 0;
    rules::Match match;
  };

  env::RewriteState& state_;
  std::vector<Node> nodes_;
  std::vector<Id> current_;  // ids on the way from the start to where the state stands, without the start
};

}
