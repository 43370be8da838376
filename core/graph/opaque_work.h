#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/einsum_products.h"
#include "core/graph/tables.h"

namespace regraft::graph {

/// What the arithmetic of an op that rewrites leave alone grows with: of an op without an OpKind, or of a
/// form of one that is not understood. From `product` on it is products, mostly.
enum class Work : std::uint8_t {
  outputs,      // elements of the first output
  inputs,       // elements of the first input: running sums
  reductions,   // the same, which become fewer
  window,       // elements under the window of each output
  taps,         // elements that an interpolation takes for each output
  largest,      // n log2 k: the k largest of n
  sorted,       // n log2 n of the first input
  product,      // multiply-adds of the first input's rows by a matrix
  convolution,  // multiply-adds of a convolution
  contraction,  // multiply-adds of an Einsum
  recurrence,   // gate elements of an LSTM, GRU or RNN, beside its products
};

/// One row an op. To add one: its row in opaque_work.cc and, where wanted, its line in [opaque] of
/// configs/devices/*.toml.
struct OpaqueOp {
  std::string_view name;  // with its domain, where that is not the standard's; of one mode, "Resize cubic"
  Work work;
  int flops;  // of one unit of work
};

std::span<const OpaqueOp> opaque_ops();
/// The row of an opaque operation, that of its mode first, or null: only its memory traffic is known.
const OpaqueOp* opaque_op(std::string_view name);
const OpaqueOp* opaque_op(const Tables& tables, const Signature& signature);
/// The op of an opaque operation, "com.microsoft.FusedConv"; empty where its maker did not say.
std::string_view opaque_name(const Tables& tables, const Signature& signature);

/// Those of an Einsum.
std::vector<MatrixProduct> einsum_products(const Tables& tables, const Signature& signature,
                                           const Bindings& bindings);

/// Sizes of an LSTM, GRU or RNN: each step is a product with [input + hidden, gates * hidden].
struct Recurrence {
  double steps = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 0;

  double gate_elements() const { return steps * batch * directions * gates * hidden; }
};
/// From the dims of the sequence and the weights; nothing where they have not three each.
std::optional<Recurrence> recurrence_of(const Tables& tables, const Signature& signature,
                                        const Bindings& bindings);

/// In the unit of the op's row; 0 without one.
double opaque_work(const Tables& tables, const Signature& signature, const Bindings& bindings);
std::int64_t opaque_flops(const Tables& tables, const Signature& signature, const Bindings& bindings);

}
