#include <algorithm>

#include "core/graph/evaluate_ops.h"

namespace regraft::graph {
namespace {

struct MatrixShape {
  std::vector<std::int64_t> batch;
  std::int64_t rows = 1, columns = 1;
};

/// A vector counts as one row on the left and as one column on the right.
MatrixShape shape_of(const HostTensor& x, bool left) {
  MatrixShape shape;
  const std::size_t rank = x.dims.size();
  if (rank == 0) refuse(OpKind::matmul, "takes no scalars");
  if (rank == 1) {
    (left ? shape.columns : shape.rows) = x.dims[0];
  } else {
    shape.batch.assign(x.dims.begin(), x.dims.end() - 2);
    shape.rows = x.dims[rank - 2];
    shape.columns = x.dims[rank - 1];
  }
  return shape;
}

constexpr std::int64_t kInnerBlock = 256;  // rows of b that stay in cache

/// c += a b. Each c[i][j] sums over k in ascending order whatever the blocks, so the result does not depend
/// on them.
template <typename T>
void multiply(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  for (std::int64_t p0 = 0; p0 < k; p0 += kInnerBlock)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t p = p0; p < std::min(k, p0 + kInnerBlock); ++p) {
        const T factor = a[i * k + p];
        const T* row = b + p * n;
        T* out = c + i * n;
        for (std::int64_t j = 0; j < n; ++j) out[j] = multiply_add(factor, row[j], out[j]);
      }
}

template <typename T>
void multiply_batches(const HostTensor& a, const HostTensor& b, const MatrixShape& left,
                      const MatrixShape& right, std::span<const std::int64_t> batch, HostTensor& out) {
  const auto step_a = broadcast_strides(left.batch, batch), step_b = broadcast_strides(right.batch, batch);
  const std::int64_t m = left.rows, k = left.columns, n = right.columns;
  std::vector<std::int64_t> at(batch.size(), 0);
  for (std::int64_t i = 0; i < element_count(batch); ++i) {
    std::int64_t at_a = 0, at_b = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      at_a += at[axis] * step_a[axis];
      at_b += at[axis] * step_b[axis];
    }
    multiply(elements<T>(a).data() + at_a * m * k, elements<T>(b).data() + at_b * k * n,
             elements<T>(out).data() + i * m * n, m, k, n);
    for (std::size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < batch[axis]) break;
      at[axis] = 0;
    }
  }
}

template <typename T>
T combine(OpKind kind, T sum, T value) {
  if (kind == OpKind::reduce_max) return value > sum || value != value ? value : sum;
  if (kind == OpKind::reduce_min) return value < sum || value != value ? value : sum;
  return multiply_add(T{1}, value, sum);
}

template <typename T>
void reduce_into(OpKind kind, const HostTensor& x, const std::vector<std::int64_t>& out_strides,
                 HostTensor& out) {
  const bool extreme = kind == OpKind::reduce_max || kind == OpKind::reduce_min;
  const auto& in = elements<T>(x);
  auto& sums = elements<T>(out);
  if (extreme && in.empty()) refuse(kind, "has nothing to choose from");
  std::vector<std::uint8_t> begun(extreme ? sums.size() : 0, 0);
  std::vector<std::int64_t> at(x.dims.size(), 0);
  std::int64_t target = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto slot = static_cast<std::size_t>(target);
    const bool first = extreme && !begun[slot];
    sums[slot] = first ? in[i] : combine<T>(kind, sums[slot], in[i]);
    if (extreme) begun[slot] = 1;
    for (std::size_t axis = at.size(); axis-- > 0;) {
      target += out_strides[axis];
      if (++at[axis] < x.dims[axis]) break;
      target -= out_strides[axis] * x.dims[axis];
      at[axis] = 0;
    }
  }
}

void divide_by_count(HostTensor& out, std::size_t elements_in) {
  if (out.size() == 0) return;
  const auto count = static_cast<std::int64_t>(elements_in / out.size());
  for (double& value : out.real) value /= static_cast<double>(count);
  if (!out.integer.empty() && count == 0) refuse(OpKind::reduce_mean, "has no elements");
  for (std::int64_t& value : out.integer) value /= count;
}

}  // namespace

HostTensor evaluate_matmul(Inputs inputs) {
  const HostTensor &a = *inputs[0], &b = *inputs[1];
  const MatrixShape left = shape_of(a, true), right = shape_of(b, false);
  if (left.columns != right.rows) refuse(OpKind::matmul, "inner dims differ");
  HostTensor batch_a, batch_b;
  batch_a.dims = left.batch;
  batch_b.dims = right.batch;
  const HostTensor* batches[] = {&batch_a, &batch_b};
  const std::vector<std::int64_t> batch = broadcast_dims(OpKind::matmul, batches);
  std::vector<std::int64_t> dims = batch;
  if (a.dims.size() > 1) dims.push_back(left.rows);
  if (b.dims.size() > 1) dims.push_back(right.columns);
  HostTensor out = make_tensor(a.dtype, dims);
  if (is_float(a.dtype))
    multiply_batches<double>(a, b, left, right, batch, out);
  else
    multiply_batches<std::int64_t>(a, b, left, right, batch, out);
  for (std::int64_t& value : out.integer) value = wrap(out.dtype, value);
  return out;
}

HostTensor evaluate_reduce(OpKind kind, const AttrBlock& attrs, Inputs inputs) {
  const HostTensor& x = *inputs[0];
  const Ints& axes = attrs.ints(Attr::axes);
  const bool keep = attrs.integer(Attr::keepdims) != 0;
  std::vector<std::int64_t> kept, dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    kept.push_back(reduced ? 1 : x.dims[i]);
    if (!reduced || keep) dims.push_back(kept.back());
  }
  HostTensor out = make_tensor(x.dtype, dims);
  const auto strides = broadcast_strides(kept, x.dims);
  if (is_float(x.dtype))
    reduce_into<double>(kind, x, strides, out);
  else
    reduce_into<std::int64_t>(kind, x, strides, out);
  if (kind == OpKind::reduce_mean) divide_by_count(out, x.size());
  for (std::int64_t& value : out.integer) value = wrap(out.dtype, value);
  return out;
}

}
