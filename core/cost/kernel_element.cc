#include <algorithm>
#include <numeric>

#include "core/cost/kernel_models.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::OpKind;
using graph::TensorType;

double window_size(const KernelShape& shape) {
  double size = 1;
  for (const std::int64_t k : shape.attrs().ints(Attr::kernel_shape)) size *= static_cast<double>(k);
  return size;
}

// Elements after `axis`, which lie together in memory.
double run_after(const KernelShape& shape, const TensorType& type, std::size_t axis) {
  double run = 1;
  for (std::size_t i = axis; i < type.rank(); ++i) run *= shape.dim(type, i);
  return run;
}

// Elements that are copied together: all after the last dim that changes, and what is taken of that.
double copied_run(const KernelShape& shape) {
  const TensorType &from = shape.input(0), &to = shape.output();
  double run = 1;
  for (std::size_t back = 0; back < std::min(from.rank(), to.rank()); ++back) {
    run *= shape.dim_back(to, back);
    if (shape.dim_back(to, back) != shape.dim_back(from, back)) break;
  }
  return run;
}

double moved_us(const KernelShape& shape, double elements, double run) {
  return elements * (shape.device.copy_ns + shape.device.chunk_ns / std::max(run, 1.0)) * 1e-3;
}

// Whether the dims that are not 1 keep their order: the runtime copies then.
bool keeps_order(const KernelShape& shape, const graph::Ints& perm) {
  std::int64_t last = -1;
  for (const std::int64_t axis : perm) {
    if (shape.dim(shape.input(0), static_cast<std::size_t>(axis)) == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// Whether one axis goes to another place, where axes that stay beside each other are one.
bool moves_one_axis(const graph::Ints& perm) {
  graph::Ints starts;  // of axes that go together
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (i == 0 || perm[i] != perm[i - 1] + 1) starts.push_back(perm[i]);
  for (std::size_t moved = 0; moved < starts.size(); ++moved) {
    graph::Ints rest = starts;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(moved));
    if (std::ranges::is_sorted(rest)) return true;
  }
  return false;
}

// Elements at the end that stay together.
double run_that_stays(const KernelShape& shape, const graph::Ints& perm) {
  std::size_t fixed = perm.size();
  while (fixed > 0 && perm[fixed - 1] == static_cast<std::int64_t>(fixed - 1)) --fixed;
  return run_after(shape, shape.input(0), fixed);
}

bool scatters(const KernelShape& shape, const graph::Ints& perm) {
  return !keeps_order(shape, perm) && run_that_stays(shape, perm) <= 1 && !moves_one_axis(perm);
}

// The first input, transposed.
double transposed_us(const KernelShape& shape, const graph::Ints& perm) {
  const double elements = shape.elements(shape.input(0));
  if (keeps_order(shape, perm)) return moved_us(shape, elements, elements);
  if (scatters(shape, perm)) return elements * shape.device.scattered_ns * 1e-3;
  const double one_axis_us = elements * shape.device.transpose_ns * 1e-3;
  const double run = run_that_stays(shape, perm);
  return run <= 1 ? one_axis_us : std::min(moved_us(shape, elements, run), one_axis_us);
}

double transpose_us(const KernelShape& shape) {
  if (shape.attrs().has(Attr::perm)) return transposed_us(shape, shape.attrs().ints(Attr::perm));
  return shape.elements(shape.output()) * shape.device.transpose_ns * 1e-3;
}

// The axis of a Softmax and the last one change places; in order where it is the last one.
graph::Ints axis_to_end(const KernelShape& shape) {
  graph::Ints perm(shape.input(0).rank());
  std::iota(perm.begin(), perm.end(), 0);
  if (!perm.empty())
    std::swap(perm[static_cast<std::size_t>(shape.attrs().integer(Attr::axis))], perm.back());
  return perm;
}

// Along the last axis; another one is moved there and back.
double softmax_us(const KernelShape& shape) {
  const double us = shape.elements(shape.output()) * shape.device.softmax_ns * 1e-3;
  const graph::Ints perm = axis_to_end(shape);
  return std::ranges::is_sorted(perm) ? us : us + 2 * transposed_us(shape, perm);
}

// Slices that take some elements of a row.
bool steps_in_rows(const KernelShape& shape) {
  if (!shape.attrs().has(Attr::steps) || !shape.attrs().has(Attr::axes)) return false;
  const graph::Ints &axes = shape.attrs().ints(Attr::axes), &steps = shape.attrs().ints(Attr::steps);
  const auto rank = static_cast<std::int64_t>(shape.input(0).rank());
  for (std::size_t i = 0; i < std::min(axes.size(), steps.size()); ++i)
    if ((axes[i] == -1 || axes[i] + 1 == rank) && steps[i] != 1) return true;
  return false;
}

// The runtime is fast at pooling images and volumes; along one dim it goes window by window.
bool pools_one_dim(const KernelShape& shape) {
  return shape.input(0).rank() == 3;
}

double split_us(const KernelShape& shape) {
  const auto axis = static_cast<std::size_t>(shape.attrs().integer(Attr::axis));
  const TensorType& input = shape.input(0);
  double us = 0;
  for (const graph::TypeId type : shape.signature.outputs) {
    const TensorType& part = shape.tables.type(type);
    us += moved_us(shape, shape.elements(part), run_after(shape, part, std::min(axis, input.rank())));
  }
  return us;
}

double concat_us(const KernelShape& shape) {
  const auto axis = static_cast<std::size_t>(shape.attrs().integer(Attr::axis));
  double us = 0;
  for (const graph::TypeId type : shape.signature.inputs) {
    const TensorType& part = shape.tables.type(type);
    us += moved_us(shape, shape.elements(part), run_after(shape, part, axis));
  }
  return us;
}

double gather_us(const KernelShape& shape) {
  const auto axis = static_cast<std::size_t>(shape.attrs().integer(Attr::axis));
  return moved_us(shape, shape.elements(shape.output()), run_after(shape, shape.input(0), axis + 1));
}

// Along the last dims it is fast; else it goes group by group, and across the rows of a lone matrix, slowly.
// For largest and smallest there is no fast way across rows.
double reduce_us(const KernelShape& shape) {
  const DeviceProfile& device = shape.device;
  const TensorType& type = shape.input(0);
  const double elements = shape.elements(type);
  if (!shape.attrs().has(Attr::axes)) return elements * device.reduce_ns * 1e-3;
  const graph::Ints& axes = shape.attrs().ints(Attr::axes);
  if (axes.empty() || axes.back() + 1 == static_cast<std::int64_t>(type.rank()))
    return elements * device.reduce_ns * 1e-3;
  double groups = 1, reduced = 1;
  for (std::int64_t i = 0; i < axes.front(); ++i) groups *= shape.dim(type, static_cast<std::size_t>(i));
  for (const std::int64_t axis : axes) reduced *= shape.dim(type, static_cast<std::size_t>(axis));
  const OpKind kind = shape.signature.kind;
  const bool extreme = kind == OpKind::reduce_max || kind == OpKind::reduce_min;
  const bool lone = groups <= 1 && (axes.front() > 0 || reduced <= 1 || extreme);
  const double ns = lone ? device.reduce_rows_ns : extreme ? device.reduce_extreme_ns : device.reduce_ns;
  return (elements * ns + groups * device.reduce_group_ns) * 1e-3;
}

// Heads are moved apart, then attended to by blocks of scores that stay in cache, unless something is added
// to them; where there is one query, moving apart changes nothing.
double attention_us(const KernelShape& shape) {
  const DeviceProfile& device = shape.device;
  const double heads = static_cast<double>(shape.attrs().integer(Attr::num_heads));
  const TensorType &q = shape.input(0), &k = shape.input(1), &v = shape.input(2);
  const double queries = shape.dim(q, 1), keys = shape.dim(k, 1), pairs = shape.dim(q, 0) * queries * keys;
  const double width = shape.dim(q, 2), value_width = shape.dim(v, 2);
  double us = 0;
  for (const TensorType* type : {&q, &k, &v})
    if (shape.dim(*type, 1) > 1) us += moved_us(shape, shape.elements(*type), shape.dim(*type, 2) / heads);
  const std::size_t added = 5;
  const bool masked = shape.signature.inputs.size() > added;
  us += 2 * pairs * (width + value_width) / device.attention_gflops * 1e-3;
  return us + pairs * heads * (masked ? device.attention_added_ns : device.attention_score_ns) * 1e-3;
}

double traffic_us(const DeviceProfile& device, const graph::OpCounts& counts) {
  const auto bytes = static_cast<double>(counts.read_bytes + counts.write_bytes + counts.weight_bytes);
  return bytes * (bytes > device.near_bytes ? device.far_ns_per_byte : device.near_ns_per_byte) * 1e-3;
}

double elementwise_us(const KernelShape& shape, const graph::OpCounts& counts) {
  const DeviceProfile& device = shape.device;
  const double ns = device.elementwise_ns[static_cast<std::size_t>(shape.signature.kind)];
  const double passes = static_cast<double>(std::max<std::size_t>(shape.signature.inputs.size(), 2) - 1);
  return shape.elements(shape.output()) * ns * passes * 1e-3 + traffic_us(device, counts);
}

}  // namespace

bool is_view_kind(OpKind kind) {
  switch (kind) {
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
      return true;
    default:
      return false;
  }
}

KernelForm element_form(const KernelShape& shape) {
  const auto scattered_if = [](bool yes) { return yes ? KernelForm::scattered : KernelForm::plain; };
  switch (shape.signature.kind) {
    case OpKind::transpose:
      return scattered_if(shape.attrs().has(Attr::perm) && scatters(shape, shape.attrs().ints(Attr::perm)));
    case OpKind::softmax:
    case OpKind::log_softmax: {
      const graph::Ints perm = axis_to_end(shape);
      if (!std::ranges::is_sorted(perm) && !scatters(shape, perm)) return KernelForm::axis_moved;
      return scattered_if(scatters(shape, perm));
    }
    case OpKind::slice:
      return scattered_if(steps_in_rows(shape));
    case OpKind::max_pool:
    case OpKind::average_pool:
      return scattered_if(pools_one_dim(shape));
    default:
      return KernelForm::plain;
  }
}

double element_time_us(const KernelShape& shape, const graph::OpCounts& counts) {
  const DeviceProfile& device = shape.device;
  const OpKind kind = shape.signature.kind;
  const double out = shape.signature.outputs.empty() ? 0 : shape.elements(shape.output());
  const double in = shape.signature.inputs.empty() ? 0 : shape.elements(shape.input(0));
  switch (kind) {
    case OpKind::layer_norm:
    case OpKind::instance_norm:
      return out * device.layer_norm_ns * 1e-3;
    case OpKind::softmax:
    case OpKind::log_softmax:
      return softmax_us(shape);
    case OpKind::gelu:
      return out * device.gelu_ns * 1e-3;
    case OpKind::batch_norm:
      return out * device.batch_norm_ns * 1e-3;
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
      return reduce_us(shape);
    case OpKind::global_average_pool:
    case OpKind::global_max_pool:
      return in * device.reduce_ns * 1e-3;
    case OpKind::max_pool:
    case OpKind::average_pool:
      return out * window_size(shape) * (pools_one_dim(shape) ? device.window_1d_ns : device.window_ns) *
             1e-3;
    case OpKind::transpose:
      return transpose_us(shape);
    case OpKind::split:
      return split_us(shape);
    case OpKind::concat:
      return concat_us(shape);
    case OpKind::gather:
      return gather_us(shape);
    case OpKind::multi_head_attention:
      return attention_us(shape);
    case OpKind::slice:
      if (steps_in_rows(shape)) return out * device.step_ns * 1e-3;
      return moved_us(shape, out, copied_run(shape));
    case OpKind::expand:
    case OpKind::tile:
    case OpKind::pad:
      return moved_us(shape, out, copied_run(shape));
    case OpKind::resize:
      return out * device.resize_ns * 1e-3 + traffic_us(device, counts);
    case OpKind::hard_swish:  // the runtime has none of its own: HardSigmoid and Mul
      return 2 * elementwise_us(shape, counts) + device.launch_us;
    case OpKind::cast_like:
      return out * device.elementwise_ns[static_cast<std::size_t>(OpKind::cast)] * 1e-3;
    case OpKind::gather_elements:
      return out * device.chunk_ns * 1e-3;
    case OpKind::opaque:
      return opaque_us(shape) + traffic_us(device, counts);
    default:
      return graph::op_info(kind).is(graph::kElementwise) ? elementwise_us(shape, counts)
                                                          : traffic_us(device, counts);
  }
}

}
