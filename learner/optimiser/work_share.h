#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/wire/group.h"

namespace regraft::learner {

/// A learner's share in the work of updates: all of it, or in a group a part of each minibatch, whose
/// gradients are added up. All members call the same functions in the same order. One thread.
class WorkShare {
 public:
  /// From now on the members of the group share the work.
  void share_with(std::shared_ptr<wire::Group> group) { group_ = std::move(group); }
  std::uint32_t rank() const { return group_ ? group_->rank() : 0; }
  std::uint32_t learners() const { return group_ ? group_->size() : 1; }

  struct Part {
    std::size_t first = 0, count = 0;
  };
  /// This learner's part of so many rows, a stretch; none where there are fewer rows than learners.
  Part part_of(std::size_t rows) const;
  /// Its part of a dim, every so many-th of all, as a view.
  torch::Tensor part_of(const torch::Tensor& all, std::int64_t dim) const;
  /// Whether it has the `number`-th where each has every so many-th.
  bool has(std::size_t number) const { return number % learners() == rank(); }

  /// Sums over the learners. Alone nothing is done, and no device waited for.
  void add_up(std::span<float> values) const;
  /// Tensors of float32, in place, all in one message.
  void add_up(std::initializer_list<torch::Tensor> parts) const;
  /// Figures of all rows, from those that each learner has of its part of them.
  std::vector<float> joined(std::vector<float> own, std::size_t rows) const;

 private:
  std::shared_ptr<wire::Group> group_;  // null: it learns alone
};

}
