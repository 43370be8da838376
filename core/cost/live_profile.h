#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::cost {

/// Nodes in a line, in the order in which they run, and the memory that is live along it: each node takes
/// bytes when it runs and gives bytes back when it has run.
///
/// The line is kept in blocks of neighbours, in the manner of an unrolled linked list, each with its sum and
/// its peak. To put a node in, to take one out and to change its bytes costs a block. To ask for the peak
/// costs one look a block. Keeps its memory. One thread.
class LiveProfile {
 public:
  /// Room for nodes below `bound`.
  void grow(std::size_t bound);
  /// Empties the line; nobody takes or gives anything.
  void clear();

  bool holds(graph::NodeId id) const { return places_[id].block != kNoBlock; }
  std::size_t size() const { return size_; }
  /// Ascending along the line, until the next change of it.
  std::uint64_t position(graph::NodeId id) const {
    const Place place = places_[id];
    return std::uint64_t{blocks_[place.block].rank} << kIndexBits | place.index;
  }
  /// The neighbours, or kNoNode.
  graph::NodeId before(graph::NodeId id) const;
  graph::NodeId after(graph::NodeId id) const;

  /// What is asked of a node by last_of().
  enum class Side : std::uint8_t { left, right, unknown };
  /// The last node on the left, or kNoNode. side(node) is left along a first part of the line and right along
  /// the rest; for some nodes it may be unknown.
  template <typename SideOf>
  graph::NodeId last_on_left(SideOf&& side) const;

  void append(graph::NodeId id) { insert_after(order_.empty() ? graph::kNoNode : last(), id); }
  /// Puts a node that is not there behind another, or first where that is kNoNode.
  void insert_after(graph::NodeId where, graph::NodeId id);
  void erase(graph::NodeId id);

  /// Whether it is in the line or not.
  void set_taken(graph::NodeId id, std::int64_t bytes);
  void give_more(graph::NodeId id, std::int64_t bytes);

  /// The largest sum of what is taken and not given back.
  std::int64_t peak();
  /// Whether erasures have left so many blocks that the line should be made anew.
  bool is_sparse() const { return order_.size() > kFewBlocks + size_ / 4; }

 private:
  static constexpr std::uint32_t kIndexBits = 5, kMostInBlock = 1u << kIndexBits;
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  static constexpr std::size_t kFewBlocks = 8;

  struct Block {
    std::int64_t sum = 0, peak = 0;  // from its first node on
    std::uint32_t rank = 0;          // in order_
    std::uint32_t count = 0;
    bool stale = true;  // sum and peak
    std::array<graph::NodeId, kMostInBlock> nodes{};
  };
  struct Place {
    std::uint32_t block = kNoBlock;
    std::uint32_t index = 0;
  };
  struct Bytes {
    std::int64_t taken = 0, given = 0;
  };

  graph::NodeId last() const { return blocks_[order_.back()].nodes[blocks_[order_.back()].count - 1]; }
  std::uint32_t make_block(std::size_t rank);
  void drop_block(std::uint32_t number);
  void split(std::uint32_t number);
  void renumber(std::size_t first_rank);
  void place_from(std::uint32_t number, std::uint32_t index);
  void note(graph::NodeId id);
  /// How many of `count` there are up to the last on the left, by bisection.
  template <typename SideAt>
  static std::size_t up_to_left(std::size_t count, SideAt&& side_at);

  std::vector<Place> places_;  // by node
  std::vector<Bytes> bytes_;   // by node
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> order_, spare_;  // numbers of blocks: along the line; to be used again
  std::size_t size_ = 0;
};

template <typename SideAt>
std::size_t LiveProfile::up_to_left(std::size_t count, SideAt&& side_at) {
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    std::size_t at = middle;
    Side found = side_at(at);
    while (found == Side::unknown && ++at < high) found = side_at(at);
    if (found == Side::left)
      low = at + 1;
    else
      high = middle;
  }
  return low;
}

template <typename SideOf>
graph::NodeId LiveProfile::last_on_left(SideOf&& side) const {
  const auto side_of_block = [&](std::size_t rank) {  // of the first of its nodes of which it is known
    const Block& block = blocks_[order_[rank]];
    Side found = Side::unknown;
    for (std::uint32_t i = 0; i < block.count && found == Side::unknown; ++i) found = side(block.nodes[i]);
    return found;
  };
  const std::size_t blocks = up_to_left(order_.size(), side_of_block);
  if (blocks == 0) return graph::kNoNode;
  const Block& last = blocks_[order_[blocks - 1]];
  return last.nodes[up_to_left(last.count, [&](std::size_t i) { return side(last.nodes[i]); }) - 1];
}

}
