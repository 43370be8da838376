#include "learner/optimiser/work_share.h"

#include <algorithm>

namespace regraft::learner {

using torch::Tensor;

WorkShare::Part WorkShare::part_of(std::size_t rows) const {
  const std::size_t first = rows * rank() / learners();
  return {first, rows * (rank() + 1) / learners() - first};
}

Tensor WorkShare::part_of(const Tensor& all, std::int64_t dim) const {
  return group_ ? all.slice(dim, rank(), all.size(dim), learners()) : all;
}

void WorkShare::add_up(std::span<float> values) const {
  if (group_) group_->add_up(values);
}

void WorkShare::add_up(std::initializer_list<Tensor> parts) const {
  if (!group_) return;
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.reshape({-1}));
  const Tensor all = torch::cat(flat).cpu();
  group_->add_up({all.data_ptr<float>(), static_cast<std::size_t>(all.numel())});
  std::int64_t at = 0;
  for (const Tensor& part : parts) {
    part.copy_(all.narrow(0, at, part.numel()).view(part.sizes()));
    at += part.numel();
  }
}

std::vector<float> WorkShare::joined(std::vector<float> own, std::size_t rows) const {
  if (!group_) return own;
  std::vector<float> all(rows, 0.0F);
  std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(part_of(rows).first));
  group_->add_up(all);
  return all;
}

}
