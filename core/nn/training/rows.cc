#include "core/nn/training/rows.h"

#include <torch/autograd.h>

#include <algorithm>
#include <limits>

#include "core/nn/training/device_tensor.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// index_add on the CPU adds row by row through the dispatcher; these loops are an order of magnitude faster,
// and the order of their additions is fixed.
template <typename T, typename Index>
void gather_loop(const T* from, T* to, const Index* group, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(from + static_cast<std::int64_t>(group[row]) * width, width, to + row * width);
}

template <typename T, typename Index>
void segment_sum_loop(const T* from, T* to, const Index* group, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row) {
    T* sum = to + static_cast<std::int64_t>(group[row]) * width;
    for (std::int64_t i = 0; i < width; ++i) sum[i] += from[row * width + i];
  }
}

Tensor gather_rows(const Tensor& x, const Rows& rows) {
  if (x.is_cuda()) return x.index_select(0, rows.group);
  const auto from = x.contiguous();
  auto to = torch::empty({rows.group.size(0), x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gather_rows", [&] {
    AT_DISPATCH_INDEX_TYPES(rows.group.scalar_type(), "gather_rows", [&] {
      gather_loop(from.data_ptr<scalar_t>(), to.data_ptr<scalar_t>(), rows.group.data_ptr<index_t>(),
                  to.size(0), to.size(1));
    });
  });
  return to;
}

Tensor sum_rows(const Tensor& x, const Rows& rows) {
  auto to = torch::zeros({rows.groups, x.size(1)}, x.options());
  if (x.is_cuda()) return to.index_add_(0, rows.group, x);
  const auto from = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_rows", [&] {
    AT_DISPATCH_INDEX_TYPES(rows.group.scalar_type(), "sum_rows", [&] {
      segment_sum_loop(from.data_ptr<scalar_t>(), to.data_ptr<scalar_t>(), rows.group.data_ptr<index_t>(),
                       from.size(0), to.size(1));
    });
  });
  return to;
}

constexpr char kGroups[] = "groups";

void save(AutogradContext* context, const Tensor& group, std::int64_t groups) {
  context->save_for_backward({group});
  context->saved_data[kGroups] = groups;
}

Rows saved(AutogradContext* context) {
  return {context->get_saved_variables()[0], context->saved_data[kGroups].toInt()};
}

struct Gather : torch::autograd::Function<Gather> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& group, std::int64_t groups) {
    save(context, group, groups);
    return gather_rows(x, {group, groups});
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {sum_rows(gradients[0], saved(context)), Tensor(), Tensor()};
  }
};

struct SegmentSum : torch::autograd::Function<SegmentSum> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& group, std::int64_t groups) {
    save(context, group, groups);
    return sum_rows(x, {group, groups});
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gather_rows(gradients[0], saved(context)), Tensor(), Tensor()};
  }
};

Tensor segment_max(const Tensor& x, const Rows& rows) {
  const auto lowest = torch::full({rows.groups}, -std::numeric_limits<float>::infinity(), x.options());
  return lowest.scatter_reduce(0, rows.group.to(torch::kInt64), x, "amax");
}

}  // namespace

Rows to_rows(const RowMap& map, torch::Device device) {
  return {aliased(map.group, {static_cast<std::int64_t>(map.rows())}, device),
          static_cast<std::int64_t>(map.groups())};
}

Tensor gather(const Tensor& x, const Rows& rows) {
  return Gather::apply(x, rows.group, rows.groups);
}

Tensor segment_sum(const Tensor& x, const Rows& rows) {
  return SegmentSum::apply(x, rows.group, rows.groups);
}

Tensor segment_log_softmax(const Tensor& x, const Rows& rows) {
  Tensor highest;
  {
    // The shift cancels out of the result, so its gradient is zero.
    torch::NoGradGuard no_grad;
    highest = gather(segment_max(x, rows).unsqueeze(1), rows).squeeze(1);
  }
  const auto shifted = x - highest;
  const auto sums = segment_sum(shifted.exp().unsqueeze(1), rows);
  return shifted - gather(sums.log(), rows).squeeze(1);
}

}
