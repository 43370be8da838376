#include "core/nn/training/rows.h"

#include <torch/autograd.h>

#include <limits>

namespace regraft::nn::training {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// index_add on the CPU adds row by row through the dispatcher; these loops are an order of magnitude faster,
// and the order of their additions is fixed.
template <typename T>
void gather_loop(const T* from, T* to, const std::int32_t* group, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(from + group[row] * width, width, to + row * width);
  }
}

template <typename T>
void segment_sum_loop(const T* from, T* to, const std::int32_t* order, const std::int32_t* offsets,
                      std::int64_t groups, std::int64_t width) {
  for (std::int64_t group = 0; group < groups; ++group) {
    T* sum = to + group * width;
    for (auto at = offsets[group]; at < offsets[group + 1]; ++at) {
      const T* row = from + order[at] * width;
      for (std::int64_t i = 0; i < width; ++i) sum[i] += row[i];
    }
  }
}

Tensor gather_rows(const Tensor& x, const Rows& rows) {
  if (x.is_cuda()) return x.index_select(0, rows.group);
  const auto from = x.contiguous();
  auto to = torch::empty({rows.group.size(0), x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gather_rows", [&] {
    gather_loop(from.data_ptr<scalar_t>(), to.data_ptr<scalar_t>(), rows.group.data_ptr<std::int32_t>(),
                to.size(0), to.size(1));
  });
  return to;
}

Tensor sum_rows(const Tensor& x, const Rows& rows) {
  auto to = torch::zeros({rows.groups(), x.size(1)}, x.options());
  if (x.is_cuda()) return to.index_add_(0, rows.group, x);
  const auto from = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_rows", [&] {
    segment_sum_loop(from.data_ptr<scalar_t>(), to.data_ptr<scalar_t>(), rows.order.data_ptr<std::int32_t>(),
                     rows.offsets.data_ptr<std::int32_t>(), to.size(0), to.size(1));
  });
  return to;
}

Rows saved_rows(const AutogradContext* context) {
  const auto saved = context->get_saved_variables();
  return {saved[0], saved[1], saved[2]};
}

struct Gather : torch::autograd::Function<Gather> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& group, const Tensor& order,
                        const Tensor& offsets) {
    context->save_for_backward({group, order, offsets});
    return gather_rows(x, {group, order, offsets});
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {sum_rows(gradients[0], saved_rows(context)), Tensor(), Tensor(), Tensor()};
  }
};

struct SegmentSum : torch::autograd::Function<SegmentSum> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& group, const Tensor& order,
                        const Tensor& offsets) {
    context->save_for_backward({group, order, offsets});
    return sum_rows(x, {group, order, offsets});
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gather_rows(gradients[0], saved_rows(context)), Tensor(), Tensor(), Tensor()};
  }
};

Tensor to_tensor(const std::vector<std::int32_t>& values, torch::Device device) {
  const auto host = torch::from_blob(const_cast<std::int32_t*>(values.data()),
                                     {static_cast<std::int64_t>(values.size())}, torch::kInt32);
  return host.to(device);
}

Tensor segment_max(const Tensor& x, const Rows& rows) {
  const auto lowest = torch::full({rows.groups()}, -std::numeric_limits<float>::infinity(), x.options());
  return lowest.scatter_reduce(0, rows.group.to(torch::kInt64), x, "amax");
}

}  // namespace

Rows to_rows(const RowMap& map, torch::Device device) {
  return {to_tensor(map.group, device), to_tensor(map.order, device), to_tensor(map.offsets, device)};
}

Tensor gather(const Tensor& x, const Rows& rows) {
  return Gather::apply(x, rows.group, rows.order, rows.offsets);
}

Tensor segment_sum(const Tensor& x, const Rows& rows) {
  return SegmentSum::apply(x, rows.group, rows.order, rows.offsets);
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

}  // namespace regraft::nn::training
