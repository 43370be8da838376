#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cost/device.h"
#include "core/graph/counts.h"
#include "core/graph/tables.h"

namespace regraft::cost {

/// Latency as whole picoseconds, so that sums are exact in any order. Two figures: with the weights of the
/// model resident in cache between runs, and with weights streamed from memory.
struct KernelTime {
  std::int64_t resident_ps = 0;
  std::int64_t streamed_ps = 0;

  static KernelTime of_us(double us);
  KernelTime& operator+=(const KernelTime& other);
  KernelTime& operator-=(const KernelTime& other);
  bool operator==(const KernelTime&) const = default;
};

/// What one operation costs when it runs as a kernel of its own.
struct KernelCost {
  KernelTime time;
  graph::OpCounts counts;
  bool view = false;  // moves nothing: the output is the input's memory
};

/// Whether the output is the input's memory under another shape (Reshape, Squeeze...).
bool is_view_kind(graph::OpKind kind);

/// Kernel costs by operation signature, each computed once. Serves one Tables on one thread; refers to the
/// device profile, the tables and the bindings, which outlive it.
class KernelCosts {
 public:
  KernelCosts(const DeviceProfile& device, const graph::Tables& tables, const graph::Bindings& bindings)
      : device_(device), tables_(tables), bindings_(bindings) {}

  const KernelCost& of(graph::SignatureId signature);
  /// Whether the runtime runs this op in the blocked layout whatever its neighbours are: convolutions and
  /// pools.
  bool starts_blocked(graph::SignatureId signature);
  /// Whether such an op reads a blocked input (a first convolution reads NCHW).
  bool reads_blocked(graph::SignatureId signature);

  std::int64_t elements(graph::TypeId type) const { return bindings_.element_count(tables_.type(type)); }
  const DeviceProfile& device() const { return device_; }
  const graph::Tables& tables() const { return tables_; }

 private:
  enum class Layout : std::uint8_t { unknown, plain, first, blocked };
  Layout layout(graph::SignatureId signature);

  const DeviceProfile& device_;
  const graph::Tables& tables_;
  const graph::Bindings& bindings_;
  std::vector<std::optional<KernelCost>> costs_;
  std::vector<Layout> layouts_;
};

}  // namespace regraft::cost
