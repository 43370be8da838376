#include "core/env/features.h"

#include <algorithm>
#include <cmath>

namespace regraft::env {
namespace {

using graph::Attr;
using graph::AttrBlock;

double product(const graph::Ints& values) {
  double result = 1;
  for (const std::int64_t value : values) result *= static_cast<double>(value);
  return result;
}

const graph::Ints* find_ints(const AttrBlock& attrs, Attr attr) {
  const graph::AttrValue* value = attrs.find(attr);
  return value ? std::get_if<graph::Ints>(value) : nullptr;
}

std::optional<std::int64_t> find_integer(const AttrBlock& attrs, Attr attr) {
  const graph::AttrValue* value = attrs.find(attr);
  const std::int64_t* integer = value ? std::get_if<std::int64_t>(value) : nullptr;
  return integer ? std::optional(*integer) : std::nullopt;
}

/// Elements of the window an op slides over its input, 1 for all others.
double kernel_elements(const graph::Tables& tables, const graph::Signature& signature,
                       const AttrBlock& attrs) {
  if (const graph::Ints* kernel = find_ints(attrs, Attr::kernel_shape)) return product(*kernel);
  const bool convolves =
      signature.kind == graph::OpKind::conv || signature.kind == graph::OpKind::conv_transpose;
  if (!convolves || signature.inputs.size() < 2) return 1;
  double elements = 1;
  const graph::TensorType& weight = tables.type(signature.inputs[1]);
  for (std::size_t i = 2; i < weight.rank(); ++i)
    elements *= std::max<double>(1, static_cast<double>(weight.dims[i]));
  return elements;
}

/// The axis an op works along, counted from the end of its first input's dims (last = 1), 0 for ops without
/// one.
double axis_from_end(const graph::Tables& tables, const graph::Signature& signature, const AttrBlock& attrs) {
  std::optional<std::int64_t> axis = find_integer(attrs, Attr::axis);
  if (!axis) {
    const graph::Ints* axes = find_ints(attrs, Attr::axes);
    if (axes && !axes->empty()) axis = axes->front();
  }
  if (!axis) {
    const graph::Ints* perm = find_ints(attrs, Attr::perm);
    if (perm && !perm->empty()) axis = perm->back();
  }
  if (!axis || signature.inputs.empty()) return 0;
  const double rank = static_cast<double>(tables.type(signature.inputs[0]).rank());
  return *axis < 0 ? static_cast<double>(-*axis) : std::max(0.0, rank - static_cast<double>(*axis));
}

}  // namespace

float scaled_log(double x, double scale) {
  return static_cast<float>(std::log2(1 + std::max(0.0, x)) / scale);
}

SmallLogs::SmallLogs(double scale) : scale_(scale) {
  for (std::size_t count = 0; count < values_.size(); ++count) {
    values_[count] = scaled_log(static_cast<double>(count), scale);
  }
}

SignatureFeatures::SignatureFeatures(const graph::Tables& tables, const graph::Bindings& bindings)
    : tables_(&tables), bindings_(bindings.in(tables)) {}

const NodeFeatureRow& SignatureFeatures::row(graph::SignatureId signature) {
  const std::size_t at = graph::index(signature);
  if (at >= rows_.size()) {
    rows_.resize(tables_->signature_count());
    known_.resize(tables_->signature_count(), 0);
  }
  if (!known_[at]) {
    rows_[at] = compute(tables_->signature(signature));
    known_[at] = 1;
  }
  return rows_[at];
}

void SignatureFeatures::clear() {
  rows_.clear();
  known_.clear();
  elements_.clear();
}

float SignatureFeatures::compute_elements(graph::TypeId type) {
  const std::size_t at = graph::index(type);
  if (at >= elements_.size()) elements_.resize(at + 1, -1.0f);
  elements_[at] = scaled_log(static_cast<double>(bindings_.element_count(tables_->type(type))), 8);
  return elements_[at];
}

NodeFeatureRow SignatureFeatures::compute(const graph::Signature& signature) const {
  NodeFeatureRow row{};
  const AttrBlock& attrs = tables_->attrs(signature.attrs);
  double elements = 0;
  for (const graph::TypeId type : signature.outputs) {
    elements += static_cast<double>(bindings_.element_count(tables_->type(type)));
  }
  row[0] = scaled_log(elements, 8);
  if (!signature.outputs.empty()) {
    const graph::TensorType& type = tables_->type(signature.outputs[0]);
    for (std::size_t i = 0; i < std::min<std::size_t>(4, type.rank()); ++i) {
      row[1 + i] = scaled_log(static_cast<double>(bindings_.value(type.dims[type.rank() - 1 - i])), 4);
    }
  }
  const graph::OpCounts counts = graph::op_counts(*tables_, signature, bindings_);
  const double bytes = static_cast<double>(counts.read_bytes + counts.write_bytes + counts.weight_bytes);
  const double flops = static_cast<double>(counts.flops);
  row[5] = scaled_log(flops, 10);
  row[6] = scaled_log(static_cast<double>(counts.weight_bytes), 8);
  row[7] = scaled_log(flops, 4) - scaled_log(bytes, 4);
  row[8] = scaled_log(kernel_elements(*tables_, signature, attrs) - 1, 2);
  const graph::Ints* strides = find_ints(attrs, Attr::strides);
  row[9] = strides ? scaled_log(product(*strides) - 1, 2) : 0.0f;
  row[10] = scaled_log(static_cast<double>(find_integer(attrs, Attr::group).value_or(1)) - 1, 3);
  row[11] = static_cast<float>(axis_from_end(*tables_, signature, attrs) / 4);
  double constants = 0, activations = 0;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.inputs[i] == tables_->type_none()) continue;
    (signature.constant[i] ? constants : activations) += 1;
  }
  row[12] = scaled_log(activations, 2);
  row[13] = scaled_log(constants, 2);
  return row;
}

}
