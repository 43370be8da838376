#pragma once

// Internal to core/cost: how long the runtime's kernels take, by family. All times are in us.

#include "core/cost/device_profile.h"
#include "core/cost/kernel_features.h"
#include "core/cost/kernel_time.h"
#include "core/graph/op_counts.h"
#include "core/graph/tables.h"

namespace regraft::cost {

/// The sizes that a kernel's time depends on.
struct KernelShape {
  const DeviceProfile& device;
  const graph::Tables& tables;
  const graph::Bindings& bindings;
  const graph::Signature& signature;

  const graph::AttrBlock& attrs() const { return tables.attrs(signature.attrs); }
  const graph::TensorType& input(std::size_t i) const { return tables.type(signature.inputs[i]); }
  const graph::TensorType& output() const { return tables.type(signature.outputs[0]); }
  double dim(const graph::TensorType& type, std::size_t i) const {
    return i < type.rank() ? static_cast<double>(bindings.value(type.dims[i])) : 1.0;
  }
  /// Dim counted from the last (0 is the last).
  double dim_back(const graph::TensorType& type, std::size_t back) const {
    return back < type.rank() ? dim(type, type.rank() - 1 - back) : 1.0;
  }
  double elements(const graph::TensorType& type) const {
    return static_cast<double>(bindings.element_count(type));
  }
};

/// Arithmetic, and weights that it reads: from cache they overlap with the arithmetic, from memory they do
/// not.
struct LinearTime {
  double arithmetic_us = 0;
  double other_us = 0;
  double weight_bytes = 0;
  double rows = 2;  // 1: a matrix-vector product
};

/// Products, convolutions, and what consists of them mostly: recurrences, an Einsum.
bool is_linear(const graph::Tables& tables, const graph::Signature& signature);
/// `batch` products; the right operand may be constant.
LinearTime product_time(const KernelShape& shape, double batch, double rows, double inner, double columns,
                        bool constant);
LinearTime linear_time(const KernelShape& shape, bool blocked);
KernelTime to_kernel_time(const DeviceProfile& device, const LinearTime& time);

/// How everything else is carried out, in the plain layout.
KernelForm element_form(const KernelShape& shape);
/// Its time, without the launch.
double element_time_us(const KernelShape& shape, const graph::OpCounts& counts);

/// Operations that rewrites leave alone (core/graph/opaque_work.h): those that are products, and the time of
/// others beside their traffic.
bool is_opaque_product(const graph::Tables& tables, const graph::Signature& signature);
LinearTime opaque_product_time(const KernelShape& shape);
double opaque_us(const KernelShape& shape);

}
