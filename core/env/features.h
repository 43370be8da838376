#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/env/observation.h"
#include "core/graph/graph.h"
#include "core/graph/op_counts.h"

namespace regraft::env {

struct FeatureSpec {
  std::string_view name;
  std::string_view meaning;  // lg(x) = log2(1 + x)
};

/// What the columns of the observation mean: the observation schema. A change here raises kObservationSchema.
inline constexpr std::array<FeatureSpec, kNodeFeatures> kNodeFeatureTable = {{
    {"elements", "lg(elements of all outputs) / 8"},
    {"dim_last",
     "lg(last dim of output 0) / 4; this and the next three are 0 where the rank is smaller or unknown"},
    {"dim_2nd_last", "lg(second last dim) / 4"},
    {"dim_3rd_last", "lg(third last dim) / 4"},
    {"dim_4th_last", "lg(fourth last dim) / 4"},
    {"flops", "lg(flops) / 10"},
    {"weight_bytes", "lg(bytes of constant inputs) / 8"},
    {"intensity", "(lg(flops) - lg(bytes read and written)) / 4"},
    {"kernel", "lg(product of kernel_shape - 1) / 2; of a Conv, of the trailing dims of its weight"},
    {"stride", "lg(product of strides - 1) / 2"},
    {"group", "lg(group - 1) / 3"},
    {"axis",
     "place of axis, of the first of axes, or of the last entry of perm, counted from the end: (rank - axis) "
     "/ 4"},
    {"fan_in", "lg(inputs that are not constant) / 2"},
    {"constants", "lg(constant inputs) / 2"},
    {"fan_out", "lg(uses, graph outputs included) / 2"},
    {"cost_share", "lg(1024 * latency of the node / latency of the initial graph) / 3"},
}};

inline constexpr std::array<FeatureSpec, kEdgeFeatures> kEdgeFeatureTable = {{
    {"elements", "lg(elements of the tensor) / 8"},
    {"slot", "lg(input slot of the consumer) / 2"},
    {"output", "lg(output number of the producer) / 2"},
    {"readers", "lg(uses of this tensor) / 2"},
}};

inline constexpr std::array<FeatureSpec, kGlobalFeatures> kGlobalFeatureTable = {{
    {"cost_log_ratio", "4 * ln(cost / initial cost)"},
    {"step_fraction", "steps taken / horizon"},
    {"flops_log_ratio", "4 * ln((1 + flops) / (1 + initial flops))"},
    {"bytes_log_ratio", "4 * ln((1 + bytes) / (1 + initial bytes))"},
    {"memory_log_ratio", "4 * ln((1 + peak memory) / (1 + initial peak memory))"},
    {"nodes", "lg(node rows) / 4"},
    {"candidates", "lg(candidates without NO-OP) / 4"},
    {"legal_rules", "share of the rules that are legal"},
}};

enum NodeFeature : std::size_t { kFanOutFeature = 14, kCostShareFeature = 15 };

/// log2(1 + x) / scale, x < 0 taken as 0.
float scaled_log(double x, double scale);

/// The same of small counts, looked up.
class SmallLogs {
 public:
  explicit SmallLogs(double scale);
  float operator()(std::size_t count) const {
    return count < values_.size() ? values_[count] : scaled_log(static_cast<double>(count), scale_);
  }

 private:
  double scale_;
  std::array<float, 64> values_;
};

using NodeFeatureRow = std::array<float, kNodeFeatures>;

/// The columns of a node that its operation alone decides, cached by signature; fan_out and cost_share are 0.
/// One thread.
class SignatureFeatures {
 public:
  SignatureFeatures(const graph::Tables& tables, const graph::Bindings& bindings);

  const NodeFeatureRow& row(graph::SignatureId signature);
  /// Forgets all, for when ids are given to others.
  void clear();
  float elements(graph::TypeId type) {  // lg(elements) / 8
    const std::size_t at = graph::index(type);
    return at < elements_.size() && elements_[at] >= 0 ? elements_[at] : compute_elements(type);
  }

 private:
  float compute_elements(graph::TypeId type);
  NodeFeatureRow compute(const graph::Signature& signature) const;

  const graph::Tables* tables_;
  graph::Bindings bindings_;
  std::vector<NodeFeatureRow> rows_;  // by signature
  std::vector<std::uint8_t> known_;   // by signature
  std::vector<float> elements_;       // by type; negative: not computed yet
};

}
