#include "core/cost/analytic_cost.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/cost/cost_error.h"
#include "core/cost/layout_propagation.h"
#include "core/graph/order.h"

namespace regraft::cost {
namespace {

using graph::kGraphOutput;
using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

// What a node costs depends on its neighbours' fusion and, where layouts change, on what its users read.
constexpr int kCostRadius = 2;

}  // namespace

AnalyticCost::NodeCost& AnalyticCost::NodeCost::operator+=(const NodeCost& other) {
  time += other.time;
  flops += other.flops;
  bytes += other.bytes;
  launches += other.launches;
  weight_bytes += other.weight_bytes;
  return *this;
}

AnalyticCost::NodeCost& AnalyticCost::NodeCost::operator-=(const NodeCost& other) {
  time -= other.time;
  flops -= other.flops;
  bytes -= other.bytes;
  launches -= other.launches;
  weight_bytes -= other.weight_bytes;
  return *this;
}

AnalyticCost::AnalyticCost(const DeviceProfile& device, const graph::Bindings& bindings,
                           const graph::Graph& graph)
    : device_(device),
      graph_(graph),
      kernels_(device, graph.tables(), bindings),
      matches_(device.fusions.get(), graph),
      rules_(graph, kernels_, layouts_, matches_) {
  std::vector<NodeId> live;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id)) live.push_back(id);
  update(live);
}

std::string AnalyticCost::name() const {
  return "analytic:" + device_.name;
}

void AnalyticCost::grow() {
  const std::size_t bound = graph_.id_bound();
  if (layouts_.size() >= bound) return;
  layouts_.resize(bound);
  fusion_.resize(bound);
  costs_.resize(bound);
  latencies_.resize(bound, 0);
  reach_.resize(bound, -1);
}

void AnalyticCost::update(std::span<const NodeId> touched) {
  grow();
  kernels_.forget_where_void();
  peak_.update(graph_, touched);
  seed(touched);
  matches_.update(touched, seeds_);
  settle_layouts();
  reach(kFusionRadius, Through::few);
  settle_fusion();
  reach(kCostRadius, Through::all);
  for (const NodeId id : reached_) {
    set_cost(id, evaluate(id));
    find_memory(id);
  }
  settle_latencies();
  stale_ = true;
}

// The seeds are then the touched nodes that live; the others cost nothing any more.
void AnalyticCost::seed(std::span<const NodeId> touched) {
  seeds_.clear();
  for (const NodeId id : touched) {
    if (graph_.alive(id)) {
      seeds_.push_back(id);
    } else if (id < layouts_.size()) {  // else it came and went since the last update
      layouts_[id] = {};
      fusion_[id] = {};
      set_cost(id, {});
    }
  }
}

// Recomputes layout states from the seeds on; those whose state changed are seeds then, too.
void AnalyticCost::settle_layouts() {
  open_ = seeds_;
  for (std::size_t at = 0; at < open_.size(); ++at) {
    const NodeId id = open_[at];
    const LayoutState state = layout_of(graph_, kernels_, layouts_, matches_, id);
    if (state == layouts_[id]) continue;
    layouts_[id] = state;
    seeds_.push_back(id);
    for (const graph::Use& use : graph_.uses(id))
      if (use.user != kGraphOutput) open_.push_back(use.user);
  }
}

// Adds the nodes whose fusion changed, of those that were reached, to the seeds.
void AnalyticCost::settle_fusion() {
  for (const NodeId id : reached_) {
    const Fusion now = rules_.find(id);
    if (now == fusion_[id]) continue;
    fusion_[id] = now;
    seeds_.push_back(id);
  }
}

// Finds the live nodes within some edges of the seeds. Identity nodes do not count; nothing is reached
// through inputs and weights, whose users see nothing of each other. No fusion looks at the users of a value
// that has many (Neighbourhood::users), but for those that take it apart (split_parts.h).
void AnalyticCost::reach(int radius, Through through) {
  reached_.clear();
  open_.clear();
  const Neighbourhood near(graph_);
  for (const NodeId id : seeds_) visit(id, radius);
  for (std::size_t at = 0; at < open_.size(); ++at) {
    const NodeId id = open_[at];
    const graph::Node& node = graph_.node(id);
    const int left = reach_[id] - (node.kind == OpKind::identity ? 0 : 1);
    if (left < 0 || node.kind == OpKind::input || node.kind == OpKind::weight) continue;
    const bool up = through == Through::all || node.kind == OpKind::slice || node.kind == OpKind::gather;
    for (const Value value : node.inputs)
      if (value.present() && (up || !near.has_many_users(value.node))) visit(value.node, left);
    for (const graph::Use& use : graph_.uses(id))
      if (use.user != kGraphOutput) visit(use.user, left);
  }
  for (const NodeId id : reached_) reach_[id] = -1;
}

// From here so many edges are left.
void AnalyticCost::visit(NodeId id, int left) {
  if (reach_[id] >= left) return;
  if (reach_[id] < 0) reached_.push_back(id);
  reach_[id] = left;
  open_.push_back(id);
}

// Where another part of the weights is streamed, all kernels that read weights take another time.
void AnalyticCost::settle_latencies() {
  const double before = std::exchange(streamed_share_, streamed_share());
  const bool all = before != streamed_share_;
  for (NodeId id = 0; all && id < costs_.size(); ++id) latencies_[id] = latency_of(costs_[id].time);
  for (const NodeId id : reached_) latencies_[id] = latency_of(costs_[id].time);
}

void AnalyticCost::set_cost(NodeId id, const NodeCost& cost) {
  total_ -= costs_[id];
  costs_[id] = cost;
  total_ += costs_[id];
}

std::int64_t AnalyticCost::tensor_bytes(NodeId id) {
  std::int64_t bytes = 0;
  for (const graph::TypeId type : graph_.node(id).outputs) bytes += kernels_.bytes(type);
  return bytes;
}

AnalyticCost::NodeCost AnalyticCost::evaluate(NodeId id) {
  const graph::Node& node = graph_.node(id);
  NodeCost cost;
  if (node.kind == OpKind::weight) {
    cost.weight_bytes = tensor_bytes(id);
    return cost;
  }
  if (layouts_[id].constant) return cost;
  if (needs_reorder(graph_, kernels_, layouts_, id)) {
    cost.time += kernels_.time_of(reorder(id));
    cost.bytes += 2 * tensor_bytes(id);
    ++cost.launches;
  }
  if (node.kind == OpKind::input || node.kind == OpKind::identity) return cost;
  const KernelCost& kernel = kernels_.of(op_with_constants(graph_, layouts_, id));
  const bool fused = fusion_[id].owner != kNoNode;
  if (!fused) cost.time += kernel.time;
  cost.time += fusion_[id].extra;
  cost.launches += fused ? 0 : 1;
  cost.flops = kernel.counts.flops;
  if (kernel.view) return cost;
  cost.bytes += kernel.counts.weight_bytes;
  bool written = true;
  for (const graph::Use& use : graph_.uses(id))
    if (use.user != kGraphOutput && is_internal(id, use.user)) written = false;
  if (written) cost.bytes += tensor_bytes(id);
  for (const Value value : node.inputs) {
    if (!value.present() || layouts_[value.node].constant || is_internal(value.node, id)) continue;
    cost.bytes += kernels_.bytes(graph_.type_id(value));
  }
  return cost;
}

KernelCosts::Pass AnalyticCost::reorder(NodeId id) {
  return kernels_.pass({OpKind::conv, KernelForm::reorder}, graph_.node(id).outputs[0], device_.reorder_ns);
}

// The kernel is that of all nodes together, where it is no single operation's.
void AnalyticCost::take_pass(PredictedKernel& kernel, const KernelCosts::Pass& pass) {
  if (pass.kind == KernelKind{}) return;
  kernel.features = kernels_.features(pass);
  kernel.analytic_us = latency_of(pass.analytic);
  kernel.corrected_us = latency_of(kernels_.time_of(pass));
}

std::vector<PredictedKernel> AnalyticCost::kernels() {
  std::vector<PredictedKernel> kernels;
  std::unordered_map<NodeId, std::size_t> at;  // of an owner's kernel
  const auto order = graph::topological_order(graph_);
  for (const NodeId id : order) {
    const OpKind kind = graph_.node(id).kind;
    if (kind == OpKind::input || kind == OpKind::weight || kind == OpKind::identity || layouts_[id].constant)
      continue;
    if (fusion_[id].owner != kNoNode) continue;
    const KernelCost& alone = kernels_.of(op_with_constants(graph_, layouts_, id));
    at[id] = kernels.size();
    kernels.push_back({.features = kernels_.features(op_with_constants(graph_, layouts_, id)),
                       .nodes = {id},
                       .view = alone.view,
                       .analytic_us = latency_of(alone.analytic()),
                       .corrected_us = latency_of(alone.time),
                       .us = latency_of(alone.time) + latency_of(fusion_[id].extra)});
    take_pass(kernels.back(), fusion_[id].pass);
  }
  for (const NodeId id : order) {
    if (fusion_.size() <= id || fusion_[id].owner == kNoNode || layouts_[id].constant) continue;
    NodeId first = fusion_[id].owner;
    while (fusion_[first].owner != kNoNode) first = fusion_[first].owner;
    const auto owner = at.find(first);
    if (owner == at.end()) continue;
    PredictedKernel& kernel = kernels[owner->second];
    const FusedMatch* match = matches_.around(first);  // whose root makes the kernel's value
    kernel.nodes.insert(kernel.nodes.end() - (match && match->root() == first && match->has(id) ? 1 : 0), id);
    kernel.us += latency_of(fusion_[id].extra);
    take_pass(kernel, fusion_[id].pass);
  }
  for (const NodeId id : order)
    if (needs_reorder(graph_, kernels_, layouts_, id)) {
      const KernelCosts::Pass pass = reorder(id);
      const double us = latency_of(kernels_.time_of(pass));
      kernels.push_back({.features = kernels_.features(pass),
                         .nodes = {id},
                         .analytic_us = latency_of(pass.analytic),
                         .corrected_us = us,
                         .us = us});
    }
  return kernels;
}

// Whether the edge is inside one kernel, so that its tensor is never written.
bool AnalyticCost::is_internal(NodeId producer, NodeId user) const {
  const auto kernel = [&](NodeId id) { return fusion_[id].owner == kNoNode ? id : fusion_[id].owner; };
  const bool within = matches_.around(producer) && fusion_[producer].owner != kNoNode;
  const bool together = kernel(producer) == kernel(user) || fusion_[user].owner == producer;
  return together && (within || graph_.uses(producer).size() == 1);
}

// The part of the weights that the cache has lost when a run comes to them.
double AnalyticCost::streamed_share() const {
  const double beyond = static_cast<double>(total_.weight_bytes) - device_.resident_bytes;
  return std::clamp(beyond / (device_.streamed_bytes - device_.resident_bytes), 0.0, 1.0);
}

double AnalyticCost::latency_of(const KernelTime& time) const {
  const auto resident = static_cast<double>(time.resident_ps),
             streamed = static_cast<double>(time.streamed_ps);
  return (resident + streamed_share_ * (streamed - resident)) / kPicosecondsPerUs;
}

// The node in whose memory a node's output is: views lie in their input. What a kernel does on its way out is
// done in place. What it does to its operands on the way in, or within a match, is never stored.
NodeId AnalyticCost::holder_of(NodeId id) const {
  const graph::Node& node = graph_.node(id);
  const auto first_operand = [&] {
    for (const Value value : node.inputs)
      if (value.present() && !layouts_[value.node].constant) return value.node;
    return kNoNode;
  };
  if (node.kind == OpKind::identity || is_view_kind(node.kind)) return first_operand();
  for (const Value value : node.inputs)
    if (value.present() && is_internal(value.node, id) && fusion_[value.node].owner != id) return value.node;
  const auto uses = graph_.uses(id);
  const NodeId owner = fusion_[id].owner;
  const bool on_the_way_in =
      owner != kNoNode && std::ranges::all_of(uses, [&](const graph::Use& use) {
        return use.user != kGraphOutput && (use.user == owner || fusion_[use.user].owner == owner);
      });
  return on_the_way_in ? first_operand() : kNoNode;
}

void AnalyticCost::find_memory(NodeId id) {
  const NodeId holder = layouts_[id].constant ? kNoNode : holder_of(id);
  peak_.set(id, layouts_[id].constant || holder != kNoNode ? 0 : tensor_bytes(id), holder);
}

const Cost& AnalyticCost::cost() {
  if (!stale_) return cost_;
  cost_.latency_us = latency_of(total_.time);
  cost_.flops = static_cast<double>(total_.flops);
  cost_.bytes = static_cast<double>(total_.bytes);
  cost_.launches = static_cast<double>(total_.launches);
  cost_.peak_memory_bytes = static_cast<double>(peak_.bytes(graph_) + total_.weight_bytes);
  stale_ = false;
  return cost_;
}

void AnalyticCost::refuse_dead(NodeId node) const {
  throw CostError("node " + std::to_string(node) + " is not live", name(), "update() after each edit");
}

double AnalyticCost::node_latency_us(NodeId node) {
  if (!graph_.alive(node)) refuse_dead(node);
  return latencies_[node];
}

std::unique_ptr<CostModel> AnalyticFactory::make(const graph::Graph& graph) const {
  return std::make_unique<AnalyticCost>(device_, bindings_, graph);
}

}
