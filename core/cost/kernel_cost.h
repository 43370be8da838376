#pragma once

#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "core/cost/device_profile.h"
#include "core/cost/kernel_features.h"
#include "core/cost/kernel_time.h"
#include "core/graph/op_counts.h"
#include "core/graph/tables.h"

namespace regraft::cost {

/// What one operation costs when it runs as a kernel of its own.
struct KernelCost {
  KernelTime time;
  graph::OpCounts counts;
  bool view = false;  // moves nothing: the output is the input's memory
  double factor = 1;  // that the time has by measurements

  KernelTime analytic() const;  // without it
};

/// Whether the output is the input's memory under another shape (Reshape, Squeeze...).
bool is_view_kind(graph::OpKind kind);

/// An operation and which of its inputs are constant when the session runs: weights, and what the runtime
/// folds from them when the session starts. Bit i of `constants` stands for input i, the last bit for all
/// from there on.
struct OpWithConstants {
  graph::SignatureId signature{};
  std::uint32_t constants = 0;
};

/// Kernel costs by operation, each computed once. Serves one Tables on one thread; refers to the device
/// profile and the tables, which outlive it.
class KernelCosts {
 public:
  KernelCosts(const DeviceProfile& device, const graph::Tables& tables, const graph::Bindings& bindings)
      : device_(device), tables_(tables), bindings_(bindings.in(tables)), generation_(tables.generation()) {}

  /// Before questions about graphs that may have changed: ids may have been given to others.
  void forget_where_void();

  const KernelCost& of(OpWithConstants op);
  /// Whether the runtime runs this op in the blocked layout whatever its neighbours are: convolutions and
  /// pools.
  bool starts_blocked(OpWithConstants op);
  /// Whether such an op reads a blocked input (a first convolution reads NCHW).
  bool reads_blocked(OpWithConstants op);
  KernelFeatures features(OpWithConstants op) const;

  /// A kernel that stands for several nodes, or for none. It reads a tensor of this type and writes another.
  struct Pass {
    KernelKind kind;
    graph::TypeId over{};
    KernelTime analytic;  // by the rates alone
    bool operator==(const Pass&) const = default;
  };
  Pass pass(KernelKind kind, graph::TypeId over, double ns_per_element);
  KernelFeatures features(const Pass& pass);
  KernelTime time_of(const Pass& pass);

  std::int64_t elements(graph::TypeId type) { return size_of(type).elements; }
  std::int64_t bytes(graph::TypeId type) { return size_of(type).bytes; }
  const DeviceProfile& device() const { return device_; }
  const graph::Tables& tables() const { return tables_; }

 private:
  enum class Layout : std::uint8_t { plain, first, blocked };
  struct Kernel {
    Layout layout = Layout::plain;
    KernelCost cost;
  };
  struct TypeSize {
    std::int64_t elements = 0, bytes = 0;
    bool known = false;
  };
  const Kernel& kernel(OpWithConstants op);
  const TypeSize& size_of(graph::TypeId type) {
    const std::size_t at = graph::index(type);
    return at < sizes_.size() && sizes_[at].known ? sizes_[at] : compute_size(type);
  }
  const TypeSize& compute_size(graph::TypeId type);
  Layout layout_of(const graph::Signature& signature) const;
  graph::Signature signature_of(OpWithConstants op) const;
  std::int64_t last_dim(graph::TypeId type) const;
  KernelFeatures features_of(const graph::Signature& signature, Layout layout,
                             const graph::OpCounts& counts) const;

  const DeviceProfile& device_;
  const graph::Tables& tables_;
  const graph::Bindings bindings_;
  std::uint64_t generation_;  // of the tables, as what follows knows them
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_map<std::uint64_t, Kernel> kernels_{&pool_};
  std::pmr::unordered_map<std::uint64_t, double> pass_factors_{&pool_};  // by kind and type
  std::vector<TypeSize> sizes_;                                          // by type
};

}
