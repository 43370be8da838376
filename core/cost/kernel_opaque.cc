#include <algorithm>

#include "core/cost/kernel_models.h"
#include "core/graph/opaque_work.h"

namespace regraft::cost {
namespace {

using graph::OpaqueOp;
using graph::Work;

double rate_ns(const DeviceProfile& device, const OpaqueOp& op) {
  const auto line = device.opaque_ns.find(op.name);
  return line == device.opaque_ns.end() ? device.opaque_default_ns : line->second;
}

double work_of(const KernelShape& shape) {
  return graph::opaque_work(shape.tables, shape.signature, shape.bindings);
}

double output_elements(const KernelShape& shape) {
  return shape.signature.outputs.empty() ? 0 : shape.elements(shape.output());
}

// Whether a reduction keeps the last dim.
bool reduces_rows(const KernelShape& shape, const OpaqueOp& op) {
  if (op.work != Work::reductions || shape.signature.outputs.empty()) return false;
  const double last = shape.dim_back(shape.input(0), 0);
  return last > 1 && shape.dim_back(shape.output(), 0) == last;
}

bool is_constant(const KernelShape& shape, std::size_t input) {
  return input < shape.signature.constant.size() && shape.signature.constant[input] != 0;
}

LinearTime& operator+=(LinearTime& time, const LinearTime& other) {
  time.arithmetic_us += other.arithmetic_us;
  time.other_us += other.other_us;
  time.weight_bytes += other.weight_bytes;
  return time;
}

// A product of all steps' inputs, then one a step, whose weights stay in cache, in each direction.
LinearTime recurrent_time(const KernelShape& shape, const OpaqueOp& op) {
  const auto sizes = graph::recurrence_of(shape.tables, shape.signature, shape.bindings);
  if (!sizes) return {};
  const DeviceProfile& device = shape.device;
  const double columns = sizes->gates * sizes->hidden;
  LinearTime time = product_time(shape, 1, sizes->steps * sizes->batch, sizes->input, columns, true);
  const LinearTime step = product_time(shape, 1, sizes->batch, sizes->hidden, columns, true);
  const double step_us =
      std::max(step.arithmetic_us, step.weight_bytes / device.gemv_resident_gbps * 1e-3) + step.other_us;
  time.arithmetic_us += sizes->steps * step_us;
  time.weight_bytes += step.weight_bytes;
  time.arithmetic_us *= sizes->directions;
  time.weight_bytes *= sizes->directions;
  time.other_us += sizes->steps * device.recurrent_step_us;
  time.other_us *= sizes->directions;
  time.other_us += sizes->gate_elements() * rate_ns(device, op) * 1e-3;
  return time;
}

// Operands are moved so that each step is a product of batches.
LinearTime contraction_time(const KernelShape& shape, const OpaqueOp& op) {
  LinearTime time;
  std::size_t right = 0;
  for (const graph::MatrixProduct& each :
       graph::einsum_products(shape.tables, shape.signature, shape.bindings))
    time += product_time(shape, each.batch, each.rows, each.inner, each.columns, is_constant(shape, ++right));
  double moved = output_elements(shape);
  for (const graph::TypeId type : shape.signature.inputs) moved += shape.elements(shape.tables.type(type));
  time.other_us += moved * rate_ns(shape.device, op) * 1e-3;
  return time;
}

LinearTime one_product_time(const KernelShape& shape) {
  const double columns = shape.dim_back(shape.input(1), 0), inner = shape.dim_back(shape.input(0), 0);
  return product_time(shape, 1, output_elements(shape) / std::max(columns, 1.0), inner, columns,
                      is_constant(shape, 1));
}

LinearTime convolution_time(const KernelShape& shape) {
  LinearTime time;
  time.arithmetic_us = 2 * work_of(shape) / shape.device.conv_gflops * 1e-3;
  time.weight_bytes = shape.elements(shape.input(1)) * sizeof(float);
  return time;
}

// Weights of 8 bits.
LinearTime of_integers(const DeviceProfile& device, LinearTime time) {
  time.arithmetic_us *= device.gemm_gflops / device.int8_gflops;
  time.weight_bytes /= sizeof(float);
  return time;
}

}  // namespace

bool is_opaque_product(const graph::Tables& tables, const graph::Signature& signature) {
  const OpaqueOp* op = graph::opaque_op(tables, signature);
  return op && op->work >= Work::product && signature.inputs.size() > 1;
}

LinearTime opaque_product_time(const KernelShape& shape) {
  const OpaqueOp& op = *graph::opaque_op(shape.tables, shape.signature);
  LinearTime time = op.work == Work::recurrence    ? recurrent_time(shape, op)
                    : op.work == Work::contraction ? contraction_time(shape, op)
                    : op.work == Work::convolution ? convolution_time(shape)
                                                   : one_product_time(shape);
  return dtype_bytes(shape.input(1).dtype) == 1 ? of_integers(shape.device, time) : time;
}

double opaque_us(const KernelShape& shape) {
  const OpaqueOp* op = graph::opaque_op(shape.tables, shape.signature);
  if (!op) return 0;
  const double rows_ns = reduces_rows(shape, *op) ? shape.device.reduce_rows_ns : 0;
  return work_of(shape) * (rate_ns(shape.device, *op) + rows_ns) * 1e-3;
}

}
