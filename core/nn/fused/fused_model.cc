#include "core/nn/fused/fused_model.h"

#include <algorithm>
#include <cmath>

#include "core/nn/model/nn_error.h"

namespace regraft::nn::internal {
namespace {

/// Hands out parts of one buffer, each on a line of its own; without a buffer it only counts.
class BumpAllocator {
 public:
  explicit BumpAllocator(float* base) : base_(base) {}
  float* take(std::size_t count) {
    float* part = base_ == nullptr ? nullptr : base_ + used_;
    used_ += whole_lines(count);
    return part;
  }
  FusedNormTape tape(std::size_t rows, std::size_t width) {
    float* normal = take(rows * width);
    float* scale = take(rows);
    return {normal, scale, take(rows)};
  }
  std::size_t used() const { return used_; }

 private:
  float* base_;
  std::size_t used_ = 0;
};

/// Runs `allocate` once to count and once to hand out.
template <typename Allocate>
void count_and_allocate(AlignedFloats& buffer, const Allocate& allocate) {
  BumpAllocator count(nullptr);
  allocate(count);
  if (buffer.size() < count.used()) buffer.resize(count.used());
  BumpAllocator parts(buffer.data());
  allocate(parts);
}

void allocate_steps(BumpAllocator& allocator, const FusedGraph& graph, std::size_t width, Tape tape,
                    std::vector<FusedStepRows>& steps) {
  const std::size_t nodes = graph.nodes * width, edges = graph.edges * width;
  FusedStepRows own{};
  own.node_to = allocator.take(nodes);
  own.edge_to = allocator.take(edges);
  own.globals_to = allocator.take(width);
  for (auto& step : steps) {
    const bool fresh = tape == Tape::kept;
    own.node_from = own.node_to;
    own.edge_from = own.edge_to;
    own.globals_from = own.globals_to;
    if (fresh) {
      own.node_to = allocator.take(nodes);
      own.edge_to = allocator.take(edges);
      own.globals_to = allocator.take(width);
      own.node = allocator.tape(graph.nodes, width);
      own.edge = allocator.tape(graph.edges, width);
      own.global = allocator.tape(1, width);
    }
    if (fresh || &step == &steps.front()) {
      own.incoming = allocator.take(nodes);
      own.outgoing = allocator.take(nodes);
      own.node_mean = allocator.take(width);
      own.edge_mean = allocator.take(width);
    }
    step = own;
  }
}

void set_scale(const std::int32_t* ends, std::size_t count, std::size_t nodes, float* scale) {
  std::fill_n(scale, nodes, 0.0f);
  for (std::size_t i = 0; i < count; ++i) scale[ends[i]] += 1;
  for (std::size_t node = 0; node < nodes; ++node)
    scale[node] = scale[node] > 0 ? 1 / std::sqrt(scale[node]) : 0;
}

}  // namespace

FusedKernels best_kernels(const NetworkConfig& config) {
  const std::size_t width = config.width;
  if (hidden_width(config) != config.width) return {nullptr, nullptr};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return fused_kernels_avx512(width);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fused_kernels_avx2(width);
#endif
  return fused_kernels_base(width);
}

FusedModel::FusedModel(const NetworkConfig& config) : config_(config), layout_(weight_layout(config)) {
  parts_offset_ = whole_lines(layout_.back().offset + layout_.back().count);
  rule_offset_ = parts_offset_ + std::size_t{3} * config.steps * config.width * config.width;
  packed_.assign(rule_offset_, 0.0f);
  bind();
}

const float* FusedModel::at(const std::string& name) const {
  const auto found = std::ranges::find(layout_, name, &TensorSpec::name);
  if (found == layout_.end()) throw NnError("no tensor '" + name + "'", "fused model", "");
  return packed_.data() + found->offset;
}

const float* FusedModel::square(const std::string& name) {
  const float* matrix = at(name);
  squares_.push_back(static_cast<std::size_t>(matrix - packed_.data()));
  return matrix;
}

FusedStep FusedModel::bind_step(std::size_t number) {
  const std::string prefix = "step" + std::to_string(number);
  const std::size_t count = std::size_t{config_.width} * config_.width;
  const float* parts = packed_.data() + parts_offset_ + number * 3 * count;
  const float* messages = square(prefix + ".node.messages");
  const float* global = square(prefix + ".global.parts");
  for (const float* matrix :
       {parts, parts + count, parts + 2 * count, messages + count, global + count, global + 2 * count}) {
    squares_.push_back(static_cast<std::size_t>(matrix - packed_.data()));
  }
  return {.sender = parts,
          .receiver = parts + count,
          .own = parts + 2 * count,
          .edge_own = square(prefix + ".edge.own"),
          .edge_global = square(prefix + ".edge.global"),
          .edge_bias = at(prefix + ".edge.bias"),
          .edge = norm(prefix + ".edge"),
          .incoming = messages,
          .outgoing = messages + count,
          .node_global = square(prefix + ".node.global"),
          .node_bias = at(prefix + ".node.bias"),
          .node = norm(prefix + ".node"),
          .global_own = global,
          .global_nodes = global + count,
          .global_edges = global + 2 * count,
          .global_bias = at(prefix + ".global.bias"),
          .global = norm(prefix + ".global")};
}

void FusedModel::bind() {
  const bool bound = config_.head == Head::hierarchical;
  const std::string head = bound ? "location" : "pointer";
  squares_.clear();
  steps_.clear();
  for (std::size_t number = 0; number < config_.steps; ++number) steps_.push_back(bind_step(number));
  bound_ = {.steps = steps_.size(),
            .step = steps_.data(),
            .kind_rows = at("node_input.kind"),
            .node_weight = at("node_input.weight"),
            .node_bias = at("node_input.bias"),
            .node_input = norm("node_input"),
            .edge_weight = at("edge_input.weight"),
            .edge_bias = at("edge_input.bias"),
            .edge_input = norm("edge_input"),
            .global_weight = at("global_input.weight"),
            .global_bias = at("global_input.bias"),
            .global_input = norm("global_input"),
            .root = square(head + ".root"),
            .matched = square(head + ".matched"),
            .graph = square(head + ".graph"),
            .bias1 = at(head + ".bias1"),
            .weight2 = square(head + ".weight2"),
            .bias2 = at(head + ".bias2"),
            .output = at(head + ".output"),
            .rule_rows = bound ? at("location.xfer") : packed_.data() + rule_offset_};
}

void FusedModel::set_weights(std::span<const float> flat) {
  std::copy(flat.begin(), flat.end(), packed_.begin());
  const std::size_t width = config_.width;
  const std::size_t count = width * width;
  for (std::size_t number = 0; number < config_.steps; ++number) {
    const float* all = at("step" + std::to_string(number) + ".node_parts");
    float* parts = packed_.data() + parts_offset_ + number * 3 * count;
    for (std::size_t row = 0; row < width; ++row) {
      for (std::size_t part = 0; part < 3; ++part) {
        std::copy_n(all + (row * 3 + part) * width, width, parts + part * count + row * width);
      }
    }
  }
}

void FusedModel::set_rule_rows(std::span<const float> rows) {
  if (packed_.size() != rule_offset_ + rows.size()) {
    packed_.resize(rule_offset_ + rows.size());
    bind();
  }
  std::ranges::copy(rows, packed_.begin() + static_cast<std::ptrdiff_t>(rule_offset_));
}

AlignedFloats FusedModel::transposed() const {
  AlignedFloats turned(packed_.size());
  const std::size_t width = config_.width;
  for (const std::size_t offset : squares_) {
    for (std::size_t row = 0; row < width; ++row) {
      for (std::size_t column = 0; column < width; ++column) {
        turned[offset + column * width + row] = packed_[offset + row * width + column];
      }
    }
  }
  return turned;
}

void FusedModel::add_flat_gradients(std::span<const float> packed, std::span<float> flat) const {
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] += packed[i];
  const std::size_t width = config_.width;
  const std::size_t count = width * width;
  for (std::size_t number = 0; number < config_.steps; ++number) {
    const auto offset =
        static_cast<std::size_t>(at("step" + std::to_string(number) + ".node_parts") - packed_.data());
    const float* parts = packed.data() + parts_offset_ + number * 3 * count;
    for (std::size_t row = 0; row < width; ++row) {
      for (std::size_t part = 0; part < 3; ++part) {
        float* to = flat.data() + offset + (row * 3 + part) * width;
        for (std::size_t i = 0; i < width; ++i) to[i] += parts[part * count + row * width + i];
      }
    }
  }
}

FusedGraph fused_graph(const env::Observation& observation) {
  return {.nodes = observation.node_count(),
          .edges = observation.edge_count(),
          .candidates = observation.candidate_count(),
          .kinds = observation.node_kinds.data(),
          .node_features = observation.node_features.data(),
          .edge_features = observation.edge_features.data(),
          .globals = observation.globals.data(),
          .senders = observation.senders.data(),
          .receivers = observation.receivers.data(),
          .rules = observation.candidate_rules.data(),
          .offsets = observation.candidate_offsets.data(),
          .matched = observation.candidate_nodes.data()};
}

FusedGraph fused_graph(const env::Observation& observation, std::vector<std::uint16_t>& rules) {
  FusedGraph graph = fused_graph(observation);
  if (observation.action_mode == env::ActionMode::one_site) return graph;
  rules.resize(observation.candidate_count());
  for (std::size_t row = 0; row < rules.size(); ++row)
    rules[row] = static_cast<std::uint16_t>(observation.rule_row(row));
  graph.rules = rules.data();
  return graph;
}

const FusedRows& FusedArena::prepare(const FusedGraph& graph, const NetworkConfig& config, Tape tape) {
  const std::size_t width = config.width;
  const std::size_t nodes = graph.nodes * width, candidates = graph.candidates * width;
  steps_.resize(config.steps);
  count_and_allocate(buffer_, [&](BumpAllocator& allocator) {
    rows_ = {};
    rows_.step = steps_.data();
    rows_.part_sender = allocator.take(nodes);
    rows_.part_receiver = allocator.take(nodes);
    rows_.part_own = allocator.take(nodes);
    rows_.hidden = allocator.take(candidates);
    rows_.incoming_scale = allocator.take(graph.nodes);
    rows_.outgoing_scale = allocator.take(graph.nodes);
    rows_.scores = allocator.take(graph.candidates);
    if (tape == Tape::kept) {
      rows_.second = allocator.take(candidates);
      rows_.node_input = allocator.tape(graph.nodes, width);
      rows_.edge_input = allocator.tape(graph.edges, width);
      rows_.global_input = allocator.tape(1, width);
    }
    allocate_steps(allocator, graph, width, tape, steps_);
  });
  set_scale(graph.receivers, graph.edges, graph.nodes, rows_.incoming_scale);
  set_scale(graph.senders, graph.edges, graph.nodes, rows_.outgoing_scale);
  return rows_;
}

void FusedGradientArena::prepare(const FusedGraph& graph, std::size_t width, FusedGradients& gradients) {
  const std::size_t nodes = graph.nodes * width;
  count_and_allocate(buffer_, [&](BumpAllocator& allocator) {
    gradients.node = allocator.take(nodes);
    gradients.node_pre = allocator.take(nodes);
    gradients.incoming = allocator.take(nodes);
    gradients.outgoing = allocator.take(nodes);
    gradients.sender = allocator.take(nodes);
    gradients.receiver = allocator.take(nodes);
    gradients.edge = allocator.take(graph.edges * width);
    gradients.edge_pre = allocator.take(graph.edges * width);
    gradients.candidate = allocator.take(graph.candidates * width);
  });
}

}
