#include "launch/optimise/point_costs.h"

#include <algorithm>
#include <set>

#include "core/cost/analytic_cost.h"

namespace regraft::launch {
namespace {

constexpr double kClearlySlower = 1.02;
constexpr int kSteps = 6;                   // of a factor of 4
constexpr std::int64_t kLargest = 65536;    // what is tried of a dim
constexpr double kLargestProduct = 0x1p32;  // and of all dims that grow
constexpr double kIdleShare = 0.05;         // of what the model says, for a graph that did not run

}  // namespace

PointCosts::PointCosts(const onnx::ImportedModel& model, const exec::Feed& feed, cost::DeviceProfile device,
                       const ModelGraphs& start)
    : model_(model), feed_(feed), device_(std::move(device)) {
  for (const exec::FeedPoint& point : feed.points) {
    graph::Bindings& bound = points_.emplace_back();
    for (const auto& [name, size] : point.all()) bound.bind(model.tables().symbol(name), size);
  }
  runs_ = start.runs(bindings());
  observed_.assign(runs_.size(), 1);
  make_factories(start);
}

void PointCosts::make_factories(const ModelGraphs& start) {
  factories_.clear();
  for (std::size_t at = 0; at < start.size(); ++at) factories_.emplace_back(device_, points_, start[at]);
}

void PointCosts::correct(const ModelGraphs& start, std::span<const cost::KernelSample> samples,
                         bool infers_symbols) {
  device_.infers_symbols = infers_symbols;
  device_.measured = std::make_shared<cost::MeasuredKernels>(samples);
  make_factories(start);
}

void PointCosts::observe(std::span<const std::optional<double>> graph_runs) {
  for (std::size_t at = 1; at < graph_runs.size(); ++at) {
    if (!graph_runs[at] || runs_[at] <= 0) continue;
    if (*graph_runs[at] == 0) idle_.insert(at);
    observed_[at] = std::max(*graph_runs[at] / runs_[at], kIdleShare);
    runs_[at] *= observed_[at];
  }
}

std::vector<double> PointCosts::latencies_us(const ModelGraphs& graphs) const {
  std::vector<double> sums;
  for (const graph::Bindings& point : points_) {
    const cost::AnalyticFactory costs(device_, point);
    const std::vector<double> runs = graphs.runs(point);
    double& sum = sums.emplace_back(0);
    for (std::size_t at = 0; at < graphs.size(); ++at)
      sum += runs[at] * observed_[at] * costs.make(graphs[at])->latency_us();
  }
  return sums;
}

exec::SymbolSizes PointCosts::slower_sizes(const graph::Graph& before, const graph::Graph& after) const {
  const exec::SymbolSizes& first = feed_.points.front().sizes;
  exec::SymbolSizes sizes = first;  // the largest of each dim
  std::set<std::string> differing;
  for (const exec::FeedPoint& point : feed_.points)
    for (const auto& [name, size] : point.sizes) {
      if (size != first.at(name)) differing.insert(name);
      sizes[name] = std::max(sizes[name], size);
    }
  for (int step = 0; step < kSteps && !differing.empty(); ++step) {
    graph::Bindings bound = bindings();
    double product = 1;
    for (auto& [name, size] : sizes) {
      if (differing.contains(name)) product *= static_cast<double>(size *= 4);
      if (differing.contains(name) && (size > kLargest || product > kLargestProduct)) return {};
      bound.bind(model_.tables().symbol(name), size);
    }
    const cost::AnalyticFactory costs(device_, bound);
    if (costs.make(after)->latency_us() > kClearlySlower * costs.make(before)->latency_us()) return sizes;
  }
  return {};
}

}
