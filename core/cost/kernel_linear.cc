#include <algorithm>
#include <cmath>

#include "core/cost/kernel_models.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::OpKind;
using graph::TensorType;

double round_up(double value, double block) {
  return std::ceil(value / block) * block;
}

double product_us(const DeviceProfile& device, double batch, double rows, double inner, double columns) {
  const double flops = 2 * batch * rows * inner * round_up(columns, device.column_block);
  const bool alias =
      rows >= device.alias_min_rows && std::fmod(inner * sizeof(float), device.alias_stride_bytes) == 0;
  return flops / device.gemm_gflops * 1e-3 * (alias ? device.alias_slowdown : 1);
}

LinearTime matmul_time(const KernelShape& shape) {
  const TensorType &a = shape.input(0), &b = shape.input(1);
  const double inner = shape.dim_back(a, 0), columns = b.rank() < 2 ? 1 : shape.dim_back(b, 0);
  const bool constant = shape.signature.constant[1] != 0;
  const double outputs = shape.elements(shape.output());
  if (b.rank() == 1) {  // the runtime goes row by row
    LinearTime time = product_time(shape, outputs, 1, inner, 1, constant);
    if (constant) time.weight_bytes = inner * sizeof(float);
    return time;
  }
  if (b.rank() == 2)
    return product_time(shape, 1, outputs / std::max(columns, 1.0), inner, columns, constant);
  const double rows = a.rank() < 2 ? 1 : shape.dim_back(a, 1);
  return product_time(shape, outputs / std::max(rows * columns, 1.0), rows, inner, columns, constant);
}

LinearTime gemm_time(const KernelShape& shape) {
  const bool trans_a = shape.attrs().integer(Attr::trans_a) != 0;
  LinearTime time =
      product_time(shape, 1, shape.dim(shape.output(), 0), shape.dim(shape.input(0), trans_a ? 0 : 1),
                   shape.dim(shape.output(), 1), shape.signature.constant[1] != 0);
  if (shape.signature.inputs.size() > 2) time.other_us += shape.device.fused_pass_us;
  return time;
}

bool strided(const KernelShape& shape) {
  const graph::AttrValue* strides = shape.attrs().find(Attr::strides);
  if (!strides) return false;
  const auto& values = shape.attrs().ints(Attr::strides);
  return std::any_of(values.begin(), values.end(), [](std::int64_t s) { return s != 1; });
}

LinearTime conv_time(const KernelShape& shape, bool blocked) {
  const DeviceProfile& device = shape.device;
  const TensorType &weight = shape.input(1), &output = shape.output();
  const double group = static_cast<double>(shape.attrs().integer(Attr::group));
  const double out_channels = shape.dim(weight, 0), in_channels = shape.dim(weight, 1);
  double kernel = 1, pixels = shape.dim(output, 0);
  for (std::size_t i = 2; i < weight.rank(); ++i) kernel *= shape.dim(weight, i);
  for (std::size_t i = 2; i < output.rank(); ++i) pixels *= shape.dim(output, i);
  LinearTime time;
  time.weight_bytes = out_channels * in_channels * kernel * sizeof(float);
  const double block = device.channel_block;
  if (!blocked) {
    const double unrolled = kernel == 1 && !strided(shape) ? 0 : group * in_channels * kernel * pixels;
    time.arithmetic_us = 2 * pixels * out_channels * in_channels * kernel / device.gemm_gflops * 1e-3;
    time.other_us = unrolled * (strided(shape) ? device.im2col_strided_ns : device.im2col_ns) * 1e-3;
    return time;
  }
  const double wide_out = round_up(out_channels, block);
  const bool depthwise = group > 1 && in_channels == 1;
  const bool first = group == 1 && in_channels < block;
  const double rate = depthwise ? device.depthwise_gflops
                      : first   ? device.first_conv_gflops
                                : device.conv_gflops;
  const double wide_in = depthwise || first ? in_channels : round_up(in_channels, block);
  time.arithmetic_us = 2 * pixels * wide_out * wide_in * kernel / rate * 1e-3;
  time.other_us = pixels * wide_out * device.conv_output_ns * 1e-3;
  return time;
}

}  // namespace

LinearTime product_time(const KernelShape& shape, double batch, double rows, double inner, double columns,
                        bool constant) {
  const DeviceProfile& device = shape.device;
  LinearTime time;
  time.rows = rows;
  time.arithmetic_us = product_us(device, batch, rows, inner, columns);
  time.other_us = (std::max(batch, 1.0) - 1) * device.product_ns * 1e-3;
  if (constant)
    time.weight_bytes = batch * inner * columns * sizeof(float);
  else  // a single row takes the right operand as it is
    time.other_us += batch * inner * columns * 1e-3 *
                     (rows > 1 ? device.pack_ns : sizeof(float) * device.near_ns_per_byte);
  const double outputs = batch * rows * columns;
  if (outputs * sizeof(float) > device.near_bytes) time.other_us += outputs * device.spill_ns * 1e-3;
  return time;
}

bool is_linear(const graph::Tables& tables, const graph::Signature& signature) {
  switch (signature.kind) {
    case OpKind::matmul:
    case OpKind::gemm:
    case OpKind::conv:
    case OpKind::conv_transpose:
      return true;
    default:
      return is_opaque_product(tables, signature);
  }
}

LinearTime linear_time(const KernelShape& shape, bool blocked) {
  switch (shape.signature.kind) {
    case OpKind::matmul:
      return matmul_time(shape);
    case OpKind::gemm:
      return gemm_time(shape);
    case OpKind::conv:
      return conv_time(shape, blocked);
    case OpKind::einsum:
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::opaque:
      return opaque_product_time(shape);
    default: {  // ConvTranspose: a product, then its columns are summed into the output
      LinearTime time;
      const double flops =
          static_cast<double>(graph::op_counts(shape.tables, shape.signature, shape.bindings).flops);
      time.arithmetic_us = flops / shape.device.gemm_gflops * 1e-3;
      time.other_us = shape.elements(shape.output()) * shape.device.im2col_ns * 1e-3;
      time.weight_bytes = shape.elements(shape.input(1)) * sizeof(float);
      return time;
    }
  }
}

KernelTime to_kernel_time(const DeviceProfile& device, const LinearTime& time) {
  const double cached_us = time.weight_bytes / device.gemv_resident_gbps * 1e-3;
  const double resident_us = std::max(time.arithmetic_us, cached_us);
  const double streamed_us =
      time.rows <= 1 ? std::max(time.arithmetic_us, time.weight_bytes / device.gemv_streamed_gbps * 1e-3)
                     : time.arithmetic_us + time.weight_bytes / device.weights_streamed_gbps * 1e-3;
  const double fixed_us = device.linear_launch_us + time.other_us;
  return {KernelTime::of_us(fixed_us + resident_us).resident_ps,
          KernelTime::of_us(fixed_us + streamed_us).streamed_ps};
}

}
