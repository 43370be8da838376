#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/dtype.h"
#include "core/graph/op.h"

namespace regraft::cost {

/// How the runtime carries an op out, where its time then follows from the sizes in another way.
enum class KernelForm : std::uint8_t {
  plain,
  constant_operand,  // a product whose right operand is a constant
  blocked,           // in the blocked layout, as are the next two
  first_blocked,     // a convolution that reads an image of few channels
  grouped_blocked,   // depthwise, or in groups of whole blocks
  grouped,           // a convolution in groups that is not blocked
  by_tanh,           // a Gelu that is one by approximation
  skip,              // a norm and the addition before it
  gated,             // x * Sigmoid(x)
  reorder,           // a move between layouts
  scattered,         // element by element, where others of the op go by rows
  axis_moved,        // a Softmax whose axis is moved to the end and back
  quantised,         // of bytes, from DequantizeLinear to QuantizeLinear
  squared,           // a Pow by 2 or 3
};

constexpr std::array<std::string_view, 14> enum_names(KernelForm) {
  return {"plain",     "constant_operand", "blocked",   "first_blocked", "grouped_blocked",
          "grouped",   "by_tanh",          "skip",      "gated",         "reorder",
          "scattered", "axis_moved",       "quantised", "squared"};
}

/// What a kernel's time depends on, mostly: kernels with the same features are taken to need the same time.
struct KernelFeatures {
  graph::OpKind kind = graph::OpKind::opaque;
  KernelForm form = KernelForm::plain;
  graph::DType dtype = graph::DType::float32;  // of the first input

  /// The counts of arithmetic and of weights are zero outside of products, convolutions and recurrences.
  enum Size : std::uint8_t { flops, read_bytes, write_bytes, weight_bytes, last_read_dim, last_written_dim };
  static constexpr std::size_t kSizes = 6;
  std::array<std::int64_t, kSizes> sizes{};
  std::string op = {};  // what an opaque kernel is, with its domain; empty: not known, or not opaque

  /// "Conv", "Opaque LSTM".
  std::string op_name() const;
  /// Those of an op by that name; nothing where there is none such.
  static std::optional<KernelFeatures> of_op(std::string_view op_name);

  bool operator==(const KernelFeatures&) const = default;

  /// "Conv blocked float32": kernels of one kind, whose times follow from the sizes in one way.
  std::string kernel_kind() const;
};

/// The kernel that a node is where it is none of its own: Gelu, a norm in parts, a move between layouts.
struct KernelKind {
  graph::OpKind op = graph::OpKind::opaque;
  KernelForm form = KernelForm::plain;
  bool operator==(const KernelKind&) const = default;
};

}
