// No include guard: each fused_*.cc defines REGRAFT_LANES and REGRAFT_ACCUMULATORS, opens a namespace of its
// own and includes this. It must not use anything inline from outside, or code for one instruction set could
// be linked into another.

#include "core/nn/fused/fused_vector.h"

inline constexpr int kNodeInputs = 16, kEdgeInputs = 4, kGlobalInputs = 8;
inline constexpr float kNormEpsilon = 1e-5f;

/// R rows of W floats in registers.
template <int W, int R>
struct Tile {
  static constexpr int kVectors = W / kLanes;
  Vector row[R][kVectors];

  void set(int r, const float* from) {
    for (int i = 0; i < kVectors; ++i) row[r][i] = load(from + i * kLanes);
  }
  void add(int r, const float* from) {
    for (int i = 0; i < kVectors; ++i) row[r][i] += load(from + i * kLanes);
  }
  /// All rows to one, in order.
  void add_all_to(float* to) const {
    for (int i = 0; i < kVectors; ++i) {
      Vector sum = load(to + i * kLanes);
      for (int r = 0; r < R; ++r) sum += row[r][i];
      store(to + i * kLanes, sum);
    }
  }
  void put(int r, float* to) const {
    for (int i = 0; i < kVectors; ++i) store(to + i * kLanes, row[r][i]);
  }
  void add_to(int r, float* to) const {
    for (int i = 0; i < kVectors; ++i) store(to + i * kLanes, load(to + i * kLanes) + row[r][i]);
  }
  /// rows += x [R, K] times weight [K, W].
  template <int K>
  void multiply(const float* x, const float* weight) {
    for (int k = 0; k < K; ++k) {
      for (int i = 0; i < kVectors; ++i) {
        const Vector w = load(weight + k * W + i * kLanes);
        for (int r = 0; r < R; ++r) row[r][i] += x[r * K + k] * w;
      }
    }
  }
  void relu() {
    const Vector zero = {};
    for (int r = 0; r < R; ++r) {
      for (int i = 0; i < kVectors; ++i) row[r][i] = row[r][i] > zero ? row[r][i] : zero;
    }
  }
  /// LN(relu(row)) of each row; rows go to the tape, if there is one, from row `first` on.
  void norm_relu(FusedNorm norm, FusedNormTape tape, std::size_t first) {
    relu();
    Vector sums[R];
    for (int r = 0; r < R; ++r) {
      sums[r] = row[r][0];
      for (int i = 1; i < kVectors; ++i) sums[r] += row[r][i];
    }
    const Vector means = lane_sums(sums) / W;
    for (int r = 0; r < R; ++r) {
      const Vector mean = broadcast(means, r);
      sums[r] = Vector{};
      for (int i = 0; i < kVectors; ++i) {
        row[r][i] -= mean;
        sums[r] += row[r][i] * row[r][i];
      }
    }
    const Vector scales = inverse_root(lane_sums(sums) / W + kNormEpsilon);
    if (tape.normal != nullptr) {
      store_lanes<R>(tape.scale + first, scales);
      store_lanes<R>(tape.floor + first, (0.0f - means) * scales);
    }
    for (int r = 0; r < R; ++r) {
      const Vector scale = broadcast(scales, r);
      for (int i = 0; i < kVectors; ++i) row[r][i] *= scale;
      if (tape.normal != nullptr) put(r, tape.normal + (first + r) * W);
      for (int i = 0; i < kVectors; ++i) {
        row[r][i] = row[r][i] * load(norm.gain + i * kLanes) + load(norm.shift + i * kLanes);
      }
    }
  }
  /// The product of each row with one, in the row's lane.
  Vector dot(const float* with) const {
    Vector sums[R];
    for (int r = 0; r < R; ++r) {
      sums[r] = Vector{};
      for (int i = 0; i < kVectors; ++i) sums[r] += row[r][i] * load(with + i * kLanes);
    }
    return lane_sums(sums);
  }
};

/// Rows whose accumulators have room in registers side by side.
template <int W>
inline constexpr int kTileRows = REGRAFT_ACCUMULATORS* kLanes / W > 1 ? REGRAFT_ACCUMULATORS* kLanes / W : 1;

/// Calls pass<R>(first row) over the rows from `row` on, largest tiles first: a row alone takes as long as a
/// tile, whose products are independent of each other.
template <int R, typename Pass>
inline void for_tiles_of(std::size_t row, std::size_t rows, const Pass& pass) {
  for (; row + R <= rows; row += R) pass.template run<R>(row);
  if constexpr (R > 1) for_tiles_of<R / 2>(row, rows, pass);
}

template <int W, typename Pass>
inline void for_tiles(std::size_t rows, const Pass& pass) {
  for_tiles_of<kTileRows<W>>(0, rows, pass);
}

/// to = LN(relu(bias + x W [+ rows by kind])).
template <int W, int K>
struct InputPass {
  const float *x, *weight, *bias;
  FusedNorm norm;
  FusedNormTape tape;
  const std::uint16_t* kinds;  // or null
  const float* kind_rows;
  float* to;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) {
      tile.set(r, bias);
      if (kinds != nullptr) tile.add(r, kind_rows + std::size_t{kinds[first + r]} * W);
    }
    tile.template multiply<K>(x + first * K, weight);
    tile.norm_relu(norm, tape, first);
    for (int r = 0; r < R; ++r) tile.put(r, to + (first + r) * W);
  }
};

/// to = start + x W.
template <int W>
struct ProductPass {
  const float *x, *weight, *start;  // start: one row, or null for 0
  float* to;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    Tile<W, R> tile = {};
    if (start != nullptr) {
      for (int r = 0; r < R; ++r) tile.set(r, start);
    }
    tile.template multiply<W>(x + first * W, weight);
    for (int r = 0; r < R; ++r) tile.put(r, to + (first + r) * W);
  }
};

template <int W>
struct EdgePass {
  const FusedStep& step;
  const FusedGraph& graph;
  const FusedRows& rows;
  const FusedStepRows& own;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    const auto* senders = graph.senders + first;
    const auto* receivers = graph.receivers + first;
    const float* part_sender = rows.part_sender;
    const float* part_receiver = rows.part_receiver;
    const float* from = own.edge_from + first * W;
    float* to = own.edge_to + first * W;
    float* incoming = own.incoming;
    float* outgoing = own.outgoing;
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) {
      tile.set(r, part_sender + std::size_t(senders[r]) * W);
      tile.add(r, part_receiver + std::size_t(receivers[r]) * W);
    }
    tile.template multiply<W>(from, step.edge_own);
    tile.norm_relu(step.edge, own.edge, first);
    for (int r = 0; r < R; ++r) {
      tile.add(r, from + r * W);
      tile.put(r, to + r * W);
      tile.add_to(r, incoming + std::size_t(receivers[r]) * W);
      tile.add_to(r, outgoing + std::size_t(senders[r]) * W);
    }
    tile.add_all_to(own.edge_mean);
  }
};

template <int W>
struct NodePass {
  const FusedStep& step;
  const FusedRows& rows;
  const FusedStepRows& own;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    const std::size_t at = first * W;
    const float* part = rows.part_own + at;
    const float* from = own.node_from + at;
    float* to = own.node_to + at;
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) tile.set(r, part + r * W);
    tile.template multiply<W>(own.incoming + at, step.incoming);
    tile.template multiply<W>(own.outgoing + at, step.outgoing);
    tile.norm_relu(step.node, own.node, first);
    for (int r = 0; r < R; ++r) {
      tile.add(r, from + r * W);
      tile.put(r, to + r * W);
    }
    tile.add_all_to(own.node_mean);
  }
};

/// scores = relu(hidden W2 + b2) . output.
template <int W>
struct ScorePass {
  const FusedWeights& weights;
  const FusedRows& rows;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) tile.set(r, weights.bias2);
    tile.template multiply<W>(rows.hidden + first * W, weights.weight2);
    tile.relu();
    if (rows.second != nullptr)
      for (int r = 0; r < R; ++r) tile.put(r, rows.second + (first + r) * W);
    store_lanes<R>(rows.scores + first, tile.dot(weights.output));
  }
};

template <int W>
inline void fill(float* to, std::size_t rows) {
  for (std::size_t i = 0; i < rows * W; i += kLanes) store(to + i, Vector{});
}

template <int W>
inline void scale_rows(float* rows, const float* scale, std::size_t count) {
  for (std::size_t row = 0; row < count; ++row) {
    for (int i = 0; i < W; i += kLanes) {
      float* at = rows + row * W + i;
      store(at, load(at) * scale[row]);
    }
  }
}

template <int W>
void message_step(const FusedStep& step, const FusedGraph& graph, const FusedRows& rows,
                  const FusedStepRows& own) {
  float to_edges[W], to_nodes[W];
  ProductPass<W>{own.globals_from, step.edge_global, step.edge_bias, to_edges}.template run<1>(0);
  ProductPass<W>{own.globals_from, step.node_global, step.node_bias, to_nodes}.template run<1>(0);
  fill<W>(own.edge_mean, 1);
  fill<W>(own.node_mean, 1);
  fill<W>(own.incoming, graph.nodes);
  fill<W>(own.outgoing, graph.nodes);
  for_tiles<W>(graph.nodes, ProductPass<W>{own.node_from, step.sender, nullptr, rows.part_sender});
  for_tiles<W>(graph.nodes, ProductPass<W>{own.node_from, step.receiver, to_edges, rows.part_receiver});
  for_tiles<W>(graph.nodes, ProductPass<W>{own.node_from, step.own, to_nodes, rows.part_own});
  for_tiles<W>(graph.edges, EdgePass<W>{step, graph, rows, own});
  scale_rows<W>(own.incoming, rows.incoming_scale, graph.nodes);
  scale_rows<W>(own.outgoing, rows.outgoing_scale, graph.nodes);
  for_tiles<W>(graph.nodes, NodePass<W>{step, rows, own});
  const float node_scale = graph.nodes > 0 ? 1.0f / static_cast<float>(graph.nodes) : 0.0f;
  const float edge_scale = graph.edges > 0 ? 1.0f / static_cast<float>(graph.edges) : 0.0f;
  scale_rows<W>(own.node_mean, &node_scale, 1);
  scale_rows<W>(own.edge_mean, &edge_scale, 1);
  Tile<W, 1> tile;
  tile.set(0, step.global_bias);
  tile.template multiply<W>(own.globals_from, step.global_own);
  tile.template multiply<W>(own.node_mean, step.global_nodes);
  tile.template multiply<W>(own.edge_mean, step.global_edges);
  tile.norm_relu(step.global, own.global, 0);
  tile.add(0, own.globals_from);
  tile.put(0, own.globals_to);
}

template <int W>
void hidden_rows(const FusedWeights& weights, const FusedGraph& graph, const FusedRows& rows,
                 const float* nodes, const float* globals) {
  float* roots = rows.part_sender;
  float* matched = rows.part_receiver;
  float from_graph[W];
  ProductPass<W>{globals, weights.graph, weights.bias1, from_graph}.template run<1>(0);
  for_tiles<W>(graph.nodes, ProductPass<W>{nodes, weights.root, nullptr, roots});
  for_tiles<W>(graph.nodes, ProductPass<W>{nodes, weights.matched, nullptr, matched});
  const auto* offsets = graph.offsets;
  const auto* places = graph.matched;
  const auto* rules = graph.rules;
  const float* rule_rows = weights.rule_rows;
  float* hidden = rows.hidden;
  for (std::size_t row = 0; row < graph.candidates; ++row) {
    Tile<W, 1> mean = {};
    const std::uint32_t begin = offsets[row], end = offsets[row + 1];
    for (std::uint32_t at = begin; at < end; ++at) mean.add(0, matched + std::size_t(places[at]) * W);
    const float inverse = end > begin ? 1.0f / static_cast<float>(end - begin) : 0.0f;
    for (auto& vector : mean.row[0]) vector *= inverse;
    if (end > begin) mean.add(0, roots + std::size_t(places[begin]) * W);
    mean.add(0, from_graph);
    mean.add(0, rule_rows + std::size_t{rules[row]} * W);
    mean.relu();
    mean.put(0, hidden + row * W);
  }
}

template <int W>
void forward(const FusedWeights& weights, const FusedGraph& graph, const FusedRows& rows) {
  const FusedStepRows& first = rows.step[0];
  const FusedStepRows& last = rows.step[weights.steps - 1];
  for_tiles<W>(graph.nodes, InputPass<W, kNodeInputs>{graph.node_features, weights.node_weight,
                                                      weights.node_bias, weights.node_input, rows.node_input,
                                                      graph.kinds, weights.kind_rows, first.node_from});
  for_tiles<W>(graph.edges, InputPass<W, kEdgeInputs>{graph.edge_features, weights.edge_weight,
                                                      weights.edge_bias, weights.edge_input, rows.edge_input,
                                                      nullptr, nullptr, first.edge_from});
  InputPass<W, kGlobalInputs>{graph.globals,
                              weights.global_weight,
                              weights.global_bias,
                              weights.global_input,
                              rows.global_input,
                              nullptr,
                              nullptr,
                              first.globals_from}
      .template run<1>(0);
  for (std::size_t i = 0; i < weights.steps; ++i) message_step<W>(weights.step[i], graph, rows, rows.step[i]);
  hidden_rows<W>(weights, graph, rows, last.node_to, last.globals_to);
  for_tiles<W>(graph.candidates, ScorePass<W>{weights, rows});
}
