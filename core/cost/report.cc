#include "core/cost/report.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/cost/kernel_models.h"

namespace regraft::cost {

Breakdown breakdown(const graph::Graph& graph, CostModel& cost) {
  std::array<Breakdown::Share, graph::kOpKinds> by_kind{};
  Breakdown result;
  result.latency_us = cost.cost().latency_us;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    const graph::OpKind kind = graph.node(id).kind;
    const double us = cost.node_latency_us(id);
    auto& share = by_kind[static_cast<std::size_t>(kind)];
    share.kind = kind;
    ++share.count;
    share.latency_us += us;
    if (is_linear(kind)) result.linear_us += us;
  }
  for (const auto& share : by_kind)
    if (share.latency_us > 0) result.kinds.push_back(share);
  std::stable_sort(result.kinds.begin(), result.kinds.end(),
                   [](const auto& a, const auto& b) { return a.latency_us > b.latency_us; });
  return result;
}

std::string to_string(const Breakdown& breakdown) {
  std::string text;
  std::array<char, 160> line{};
  for (const auto& share : breakdown.kinds) {
    const std::string name(graph::op_info(share.kind).name);
    std::snprintf(line.data(), line.size(), "  %-22s %5zu %12.1f us %5.1f %%\n", name.c_str(), share.count,
                  share.latency_us, 100 * share.latency_us / breakdown.latency_us);
    text += line.data();
  }
  std::snprintf(line.data(), line.size(),
                "  %.1f us, %.1f %% in matmuls and convolutions: at most %.2fx by rewriting the rest\n",
                breakdown.latency_us, 100 * breakdown.linear_share(), breakdown.ceiling());
  return text + line.data();
}

}  // namespace regraft::cost
