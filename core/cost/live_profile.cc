#include "core/cost/live_profile.h"

namespace regraft::cost {

using graph::NodeId;

void LiveProfile::grow(std::size_t bound) {
  if (places_.size() >= bound) return;
  places_.resize(bound);
  bytes_.resize(bound);
}

void LiveProfile::clear() {
  std::fill(places_.begin(), places_.end(), Place{});
  std::fill(bytes_.begin(), bytes_.end(), Bytes{});
  spare_.insert(spare_.end(), order_.begin(), order_.end());
  order_.clear();
  size_ = 0;
}

NodeId LiveProfile::before(NodeId id) const {
  const Place place = places_[id];
  const Block& block = blocks_[place.block];
  if (place.index > 0) return block.nodes[place.index - 1];
  if (block.rank == 0) return graph::kNoNode;
  const Block& earlier = blocks_[order_[block.rank - 1]];
  return earlier.nodes[earlier.count - 1];
}

NodeId LiveProfile::after(NodeId id) const {
  const Place place = places_[id];
  const Block& block = blocks_[place.block];
  if (place.index + 1 < block.count) return block.nodes[place.index + 1];
  return block.rank + 1 == order_.size() ? graph::kNoNode : blocks_[order_[block.rank + 1]].nodes[0];
}

void LiveProfile::insert_after(NodeId where, NodeId id) {
  if (order_.empty()) make_block(0);
  Place to{order_.front(), 0};
  if (where != graph::kNoNode) to = {places_[where].block, places_[where].index + 1};
  if (blocks_[to.block].count == kMostInBlock) {
    const bool at_the_end = to.index == kMostInBlock && blocks_[to.block].rank + 1 == order_.size();
    if (at_the_end) {  // blocks that are filled in order stay full
      to = {make_block(order_.size()), 0};
    } else {
      split(to.block);
      const std::uint32_t kept = blocks_[to.block].count;
      if (to.index > kept) to = {order_[blocks_[to.block].rank + 1], to.index - kept};
    }
  }
  Block& block = blocks_[to.block];
  std::copy_backward(block.nodes.begin() + to.index, block.nodes.begin() + block.count,
                     block.nodes.begin() + block.count + 1);
  block.nodes[to.index] = id;
  ++block.count;
  block.stale = true;
  ++size_;
  place_from(to.block, to.index);
}

void LiveProfile::erase(NodeId id) {
  const Place from = std::exchange(places_[id], {});
  Block& block = blocks_[from.block];
  std::copy(block.nodes.begin() + from.index + 1, block.nodes.begin() + block.count,
            block.nodes.begin() + from.index);
  --block.count;
  block.stale = true;
  --size_;
  if (block.count == 0)
    drop_block(from.block);
  else
    place_from(from.block, from.index);
}

void LiveProfile::set_taken(NodeId id, std::int64_t bytes) {
  if (std::exchange(bytes_[id].taken, bytes) != bytes) note(id);
}

void LiveProfile::give_more(NodeId id, std::int64_t bytes) {
  bytes_[id].given += bytes;
  note(id);
}

std::int64_t LiveProfile::peak() {
  std::int64_t live = 0, peak = 0;
  for (const std::uint32_t number : order_) {
    Block& block = blocks_[number];
    if (block.stale) {
      block.sum = block.peak = 0;
      for (std::uint32_t i = 0; i < block.count; ++i) {
        const Bytes& bytes = bytes_[block.nodes[i]];
        block.sum += bytes.taken;
        block.peak = std::max(block.peak, block.sum);
        block.sum -= bytes.given;
      }
      block.stale = false;
    }
    peak = std::max(peak, live + block.peak);
    live += block.sum;
  }
  return peak;
}

std::uint32_t LiveProfile::make_block(std::size_t rank) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.emplace_back();
  }
  const std::uint32_t number = spare_.back();
  spare_.pop_back();
  blocks_[number].count = 0;
  blocks_[number].stale = true;
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(rank), number);
  renumber(rank);
  return number;
}

void LiveProfile::drop_block(std::uint32_t number) {
  const std::size_t rank = blocks_[number].rank;
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(rank));
  spare_.push_back(number);
  renumber(rank);
}

void LiveProfile::split(std::uint32_t number) {
  constexpr std::uint32_t kKept = kMostInBlock / 2;
  const std::uint32_t made = make_block(blocks_[number].rank + 1);
  Block &from = blocks_[number], &to = blocks_[made];
  std::copy(from.nodes.begin() + kKept, from.nodes.end(), to.nodes.begin());
  to.count = kMostInBlock - kKept;
  from.count = kKept;
  from.stale = true;
  place_from(made, 0);
}

void LiveProfile::renumber(std::size_t first_rank) {
  for (std::size_t rank = first_rank; rank < order_.size(); ++rank)
    blocks_[order_[rank]].rank = static_cast<std::uint32_t>(rank);
}

void LiveProfile::place_from(std::uint32_t number, std::uint32_t index) {
  const Block& block = blocks_[number];
  for (std::uint32_t i = index; i < block.count; ++i) places_[block.nodes[i]] = {number, i};
}

void LiveProfile::note(NodeId id) {
  if (holds(id)) blocks_[places_[id].block].stale = true;
}

}
