#pragma once

// Internal to core/rules: all matches of a graph, by rule, in canonical order.

#include <span>
#include <vector>

#include "core/rules/match/match.h"

namespace regraft::rules {

/// Lists of matches that are filled root by root, in canonical order; only matches of one rule with one root
/// are compared. Keeps its memory from filling to filling.
class MatchLists {
 public:
  explicit MatchLists(std::size_t rules) : lists_(rules) {}

  /// Empties the lists. `position` is by node and outlives the filling.
  void begin(const std::vector<std::uint32_t>& position);
  void add(const Match& match);
  /// Keeps a match, which stays where it is, until its root's turn: add_deferred(root).
  void defer(const Match& match);
  void add_deferred(graph::NodeId root) {
    if (first_deferred_[root] != kNone) add_all_deferred(root);
  }

  std::span<const Match> of(std::uint32_t rule) const {
    return {lists_[rule].matches.data(), lists_[rule].size};
  }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct List {
    std::vector<Match> matches;  // the first `size` count
    std::size_t size = 0;
  };
  struct Deferred {
    const Match* match;
    std::uint32_t next;
  };

  void add_all_deferred(graph::NodeId root);
  bool before(const Match& a, const Match& b) const;

  std::vector<List> lists_;
  std::vector<Deferred> deferred_;
  std::vector<std::uint32_t> first_deferred_;  // by node
  const std::vector<std::uint32_t>* position_ = nullptr;
  std::size_t count_ = 0;
};

}
