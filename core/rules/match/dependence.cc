#include "core/rules/match/dependence.h"

#include <algorithm>

namespace regraft::rules {

using graph::NodeId;
using graph::Value;

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

void Dependence::begin(std::span<const NodeId> order, const std::vector<std::uint32_t>& position) {
  order_ = order;
  position_ = &position;
  for (const Value source : sources_) first_[source.node] = kNone;
  first_.resize(std::max(first_.size(), position.size()), kNone);
  sources_.clear();
  next_.clear();
  begin_ = kNone;
  end_ = 0;
  words_ = 0;
}

bool Dependence::might(std::span<const Value> values, std::span<const Value> targets) const {
  std::uint32_t first = kNone, last = 0;
  for (const Value value : values) first = std::min(first, (*position_)[value.node]);
  for (const Value target : targets) last = std::max(last, (*position_)[target.node]);
  return !targets.empty() && last >= first;
}

void Dependence::announce(std::span<const Value> values, std::span<const Value> targets) {
  for (const Value value : values) {
    begin_ = std::min(begin_, (*position_)[value.node]);
    if (bit_of(value) != kNone) continue;
    next_.push_back(first_[value.node]);
    first_[value.node] = static_cast<std::uint32_t>(sources_.size());
    sources_.push_back(value);
  }
  for (const Value target : targets) end_ = std::max(end_, (*position_)[target.node] + 1);
}

std::uint32_t Dependence::bit_of(Value value) const {
  std::uint32_t bit = first_[value.node];
  while (bit != kNone && sources_[bit] != value) bit = next_[bit];
  return bit;
}

const std::uint64_t* Dependence::row(NodeId node) const {
  const std::uint32_t at = (*position_)[node];
  return at < begin_ || at >= end_ ? nullptr : rows_.data() + (at - begin_) * words_;
}

void Dependence::settle() {
  words_ = (sources_.size() + 63) / 64;
  if (words_ == 0 || end_ <= begin_) return;
  rows_.assign((end_ - begin_) * words_, 0);
  for (std::uint32_t at = begin_; at < end_; ++at) {
    std::uint64_t* own = rows_.data() + (at - begin_) * words_;
    for (const Value input : graph_.node(order_[at]).inputs) {
      if (!input.present()) continue;
      const std::uint64_t* above = row(input.node);
      if (!above) continue;
      for (std::size_t word = 0; word < words_; ++word) own[word] |= above[word];
      if (const std::uint32_t bit = bit_of(input); bit != kNone)
        own[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }
}

bool Dependence::depends(std::span<const Value> values, std::span<const Value> targets) const {
  for (const Value target : targets) {
    if (std::find(values.begin(), values.end(), target) != values.end()) return true;
    const std::uint64_t* above = row(target.node);
    if (!above) continue;
    for (const Value value : values) {
      const std::uint32_t bit = bit_of(value);
      if (bit != kNone && (above[bit / 64] >> (bit % 64) & 1) != 0) return true;
    }
  }
  return false;
}

}
