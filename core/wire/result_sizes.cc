#include "core/wire/result_sizes.h"

#include <algorithm>

namespace regraft::wire {
namespace {

constexpr std::size_t kRemembered = 64;  // so that one in 64 may need more than was reserved
constexpr std::size_t kFew = 4;          // too few to tell

}  // namespace

void ResultSizes::Last::add(std::uint64_t more) {
  bytes.push_back(more);
  if (bytes.size() > kRemembered) bytes.pop_front();
}

void ResultSizes::add(const std::string& kind, std::uint32_t model, std::uint64_t bytes) {
  of_kinds_[kind].add(bytes);
  Last& last = of_models_[{kind, model}];
  last.add(bytes);
  last.reserved = reserve(last);
}

std::uint64_t ResultSizes::reserve(const Last& last) const {
  const std::uint64_t largest = *std::ranges::max_element(last.bytes);
  return std::min(most_, largest + largest / 4 + 1);
}

std::uint64_t ResultSizes::expected(const std::string& kind, std::uint32_t model) const {
  const auto last = of_models_.find({kind, model});
  return last != of_models_.end() && last->second.bytes.size() >= kFew ? reserve(last->second)
                                                                       : expected(kind);
}

std::uint64_t ResultSizes::expected(const std::string& kind) const {
  const auto last = of_kinds_.find(kind);
  if (last == of_kinds_.end() || last->second.bytes.size() < kFew) return most_;
  std::uint64_t largest = reserve(last->second);
  for (auto model = of_models_.lower_bound({kind, 0});
       model != of_models_.end() && model->first.first == kind; ++model)
    if (model->second.bytes.size() >= kFew) largest = std::max(largest, model->second.reserved);
  return largest;
}

}
