// Included after fused_body.h, under the same rules. Gradients of its forward pass, by hand; network_test.cc
// compares them with LibTorch's autograd.

/// Rows [k, k + kBlock) of dW [K, W] += x^T y, summed in registers.
template <int W, int K, int kBlock>
inline void add_outer_block(const float* x, const float* y, std::size_t rows, float* to, int k) {
  constexpr int kVectors = W / kLanes;
  Vector sum[kBlock][kVectors] = {};
  for (std::size_t row = 0; row < rows; ++row) {
    Vector part[kVectors];
    for (int i = 0; i < kVectors; ++i) part[i] = load(y + row * W + i * kLanes);
    for (int b = 0; b < kBlock; ++b) {
      const float factor = x[row * K + k + b];
      for (int i = 0; i < kVectors; ++i) sum[b][i] += factor * part[i];
    }
  }
  for (int b = 0; b < kBlock; ++b) {
    for (int i = 0; i < kVectors; ++i) {
      float* at = to + (k + b) * W + i * kLanes;
      store(at, load(at) + sum[b][i]);
    }
  }
}

/// dW [K, W] += x^T y over all rows: x [rows, K], y [rows, W].
template <int W, int K>
inline void add_outer(const float* x, const float* y, std::size_t rows, float* to) {
  constexpr int kWanted = REGRAFT_OUTER_ACCUMULATORS * kLanes / W;
  constexpr int kBlock = kWanted < 1 ? 1 : (kWanted < K ? kWanted : K);
  int k = 0;
  for (; k + kBlock <= K; k += kBlock) add_outer_block<W, K, kBlock>(x, y, rows, to, k);
  if constexpr (K % kBlock > 0) add_outer_block<W, K, K % kBlock>(x, y, rows, to, k);
}

template <int W>
inline void add_row(float* to, const float* from) {
  for (int i = 0; i < W; i += kLanes) store(to + i, load(to + i) + load(from + i));
}

struct Adjoint {
  const FusedGradients& gradients;

  float* sum(const float* weight) const { return gradients.sums + (weight - gradients.weights); }
  const float* transposed(const float* weight) const {
    return gradients.transposed + (weight - gradients.weights);
  }
};

/// Gradient of y = LN(relu(x)): dy in the tile becomes dx. Rows of a whole tile are added to the gradients of
/// gain and shift together, others one by one.
template <int W, int R>
inline void norm_relu_back(Tile<W, R>& tile, FusedNorm norm, FusedNormTape tape, std::size_t first,
                           const Adjoint& adjoint) {
  constexpr int kVectors = W / kLanes;
  constexpr int kTogether = R == kTileRows<W> ? R : 1;  // NOLINT(bugprone-branch-clone): R may be 1
  float* gain = adjoint.sum(norm.gain);
  float* shift = adjoint.sum(norm.shift);
  Vector mean_sums[R], slope_sums[R];
  for (int begin = 0; begin < R; begin += kTogether) {
    Vector gain_sum[kVectors] = {}, shift_sum[kVectors] = {};
    for (int r = begin; r < begin + kTogether; ++r) {
      const float* normal = tape.normal + (first + r) * W;
      mean_sums[r] = Vector{};
      slope_sums[r] = Vector{};
      for (int i = 0; i < kVectors; ++i) {
        const Vector n = load(normal + i * kLanes);
        Vector& dy = tile.row[r][i];
        gain_sum[i] += dy * n;
        shift_sum[i] += dy;
        dy *= load(norm.gain + i * kLanes);
        mean_sums[r] += dy;
        slope_sums[r] += dy * n;
      }
    }
    for (int i = 0; i < kVectors; ++i) {
      store(gain + i * kLanes, load(gain + i * kLanes) + gain_sum[i]);
      store(shift + i * kLanes, load(shift + i * kLanes) + shift_sum[i]);
    }
  }
  const Vector means = lane_sums(mean_sums) / W;
  const Vector slopes = lane_sums(slope_sums) / W;
  for (int r = 0; r < R; ++r) {
    const float* normal = tape.normal + (first + r) * W;
    const Vector mean = broadcast(means, r), slope = broadcast(slopes, r);
    const float scale = tape.scale[first + r];
    const Vector floor = Vector{} + tape.floor[first + r];
    const Vector zero = {};
    for (int i = 0; i < kVectors; ++i) {
      const Vector n = load(normal + i * kLanes);
      const Vector dx = (tile.row[r][i] - mean - n * slope) * scale;
      tile.row[r][i] = n > floor ? dx : zero;
    }
  }
}

/// One row through y = x W + b: adds to the gradients of W, of b unless null, and of x.
template <int W>
inline void affine_back(const float* x, const float* dy, const float* weight, const float* bias, float* dx,
                        const Adjoint& adjoint) {
  add_outer<W, W>(x, dy, 1, adjoint.sum(weight));
  if (bias != nullptr) add_row<W>(adjoint.sum(bias), dy);
  Tile<W, 1> tile;
  tile.set(0, dx);
  tile.template multiply<W>(dy, adjoint.transposed(weight));
  tile.put(0, dx);
}

template <int W>
struct NodeBackPass {
  const FusedStep& step;
  const FusedRows& rows;
  const FusedStepRows& own;
  const Adjoint& adjoint;
  float* sum;  // [W]

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    const FusedGradients& g = adjoint.gradients;
    const std::size_t at = first * W;
    float* node = g.node + at;
    float* pre = g.node_pre + at;
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) tile.set(r, node + r * W);
    norm_relu_back(tile, step.node, own.node, first, adjoint);
    for (int r = 0; r < R; ++r) tile.put(r, pre + r * W);
    tile.add_all_to(sum);
    message_back<R>(pre, step.incoming, rows.incoming_scale + first, g.incoming + at);
    message_back<R>(pre, step.outgoing, rows.outgoing_scale + first, g.outgoing + at);
    Tile<W, R> from;
    for (int r = 0; r < R; ++r) from.set(r, node + r * W);
    from.template multiply<W>(pre, adjoint.transposed(step.own));
    for (int r = 0; r < R; ++r) from.put(r, node + r * W);
  }

  template <int R>
  __attribute__((always_inline)) void message_back(const float* pre, const float* weight, const float* scale,
                                                   float* to) const {
    Tile<W, R> tile = {};
    tile.template multiply<W>(pre, adjoint.transposed(weight));
    for (int r = 0; r < R; ++r) {
      for (auto& vector : tile.row[r]) vector *= scale[r];
      tile.put(r, to + r * W);
    }
  }
};

template <int W>
struct EdgeBackPass {
  const FusedStep& step;
  const FusedGraph& graph;
  const FusedStepRows& own;
  const Adjoint& adjoint;
  float* sum;         // [W]
  const float* mean;  // [W], gradient that each edge gets through the mean

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    const FusedGradients& g = adjoint.gradients;
    const auto* senders = graph.senders + first;
    const auto* receivers = graph.receivers + first;
    const float* incoming = g.incoming;
    const float* outgoing = g.outgoing;
    float* to_sender = g.sender;
    float* to_receiver = g.receiver;
    float* edge = g.edge + first * W;
    float* pre = g.edge_pre + first * W;
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) {
      tile.set(r, edge + r * W);
      tile.add(r, mean);
      tile.add(r, incoming + std::size_t(receivers[r]) * W);
      tile.add(r, outgoing + std::size_t(senders[r]) * W);
      tile.put(r, edge + r * W);
    }
    norm_relu_back(tile, step.edge, own.edge, first, adjoint);
    for (int r = 0; r < R; ++r) {
      tile.put(r, pre + r * W);
      tile.add_to(r, to_sender + std::size_t(senders[r]) * W);
      tile.add_to(r, to_receiver + std::size_t(receivers[r]) * W);
    }
    tile.add_all_to(sum);
    Tile<W, R> from;
    for (int r = 0; r < R; ++r) from.set(r, edge + r * W);
    from.template multiply<W>(pre, adjoint.transposed(step.edge_own));
    for (int r = 0; r < R; ++r) from.put(r, edge + r * W);
  }
};

/// dx += da A^T + db B^T.
template <int W>
struct TwoProductsBackPass {
  const float *a, *b, *a_transposed, *b_transposed;
  float* to;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    const std::size_t at = first * W;
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) tile.set(r, to + at + r * W);
    tile.template multiply<W>(a + at, a_transposed);
    tile.template multiply<W>(b + at, b_transposed);
    for (int r = 0; r < R; ++r) tile.put(r, to + at + r * W);
  }
};

/// The global update: `globals` goes from the gradient after the step to the one before; node and edge means
/// get theirs.
template <int W>
void global_back(const FusedStep& step, const FusedStepRows& own, const Adjoint& adjoint, float* globals,
                 float* node_mean, float* edge_mean) {
  float pre[W];
  Tile<W, 1> tile;
  tile.set(0, globals);
  norm_relu_back(tile, step.global, own.global, 0, adjoint);
  tile.put(0, pre);
  fill<W>(node_mean, 1);
  fill<W>(edge_mean, 1);
  affine_back<W>(own.globals_from, pre, step.global_own, step.global_bias, globals, adjoint);
  affine_back<W>(own.node_mean, pre, step.global_nodes, nullptr, node_mean, adjoint);
  affine_back<W>(own.edge_mean, pre, step.global_edges, nullptr, edge_mean, adjoint);
}

template <int W>
void step_back(const FusedStep& step, const FusedGraph& graph, const FusedRows& rows,
               const FusedStepRows& own, const Adjoint& adjoint, float* globals) {
  const FusedGradients& g = adjoint.gradients;
  float node_mean[W], edge_mean[W], to_nodes[W], to_edges[W];
  global_back<W>(step, own, adjoint, globals, node_mean, edge_mean);
  const float node_scale = graph.nodes > 0 ? 1.0f / static_cast<float>(graph.nodes) : 0.0f;
  const float edge_scale = graph.edges > 0 ? 1.0f / static_cast<float>(graph.edges) : 0.0f;
  scale_rows<W>(node_mean, &node_scale, 1);
  scale_rows<W>(edge_mean, &edge_scale, 1);
  for (std::size_t node = 0; node < graph.nodes; ++node) add_row<W>(g.node + node * W, node_mean);
  fill<W>(to_nodes, 1);
  fill<W>(to_edges, 1);
  fill<W>(g.sender, graph.nodes);
  fill<W>(g.receiver, graph.nodes);
  for_tiles<W>(graph.nodes, NodeBackPass<W>{step, rows, own, adjoint, to_nodes});
  for_tiles<W>(graph.edges, EdgeBackPass<W>{step, graph, own, adjoint, to_edges, edge_mean});
  for_tiles<W>(graph.nodes, TwoProductsBackPass<W>{g.sender, g.receiver, adjoint.transposed(step.sender),
                                                   adjoint.transposed(step.receiver), g.node});
  add_outer<W, W>(own.node_from, g.node_pre, graph.nodes, adjoint.sum(step.own));
  add_outer<W, W>(own.incoming, g.node_pre, graph.nodes, adjoint.sum(step.incoming));
  add_outer<W, W>(own.outgoing, g.node_pre, graph.nodes, adjoint.sum(step.outgoing));
  add_outer<W, W>(own.node_from, g.sender, graph.nodes, adjoint.sum(step.sender));
  add_outer<W, W>(own.node_from, g.receiver, graph.nodes, adjoint.sum(step.receiver));
  add_outer<W, W>(own.edge_from, g.edge_pre, graph.edges, adjoint.sum(step.edge_own));
  affine_back<W>(own.globals_from, to_nodes, step.node_global, step.node_bias, globals, adjoint);
  affine_back<W>(own.globals_from, to_edges, step.edge_global, step.edge_bias, globals, adjoint);
}

/// Gradient of the scores down to the hidden rows, in `candidate`.
template <int W>
struct ScoreBackPass {
  const FusedWeights& weights;
  const FusedRows& rows;
  const Adjoint& adjoint;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    constexpr int kVectors = W / kLanes;
    const FusedGradients& g = adjoint.gradients;
    const Vector zero = {};
    const float* scores = g.scores + first;
    const float* hidden = rows.hidden + first * W;
    float* second = rows.second + first * W;  // becomes its own gradient: nothing needs it afterwards
    float* candidate = g.candidate + first * W;
    float* output_sum = adjoint.sum(weights.output);
    float* bias_sum = adjoint.sum(weights.bias2);
    for (int i = 0; i < kVectors; ++i) {
      const Vector output = load(weights.output + i * kLanes);
      Vector outputs = load(output_sum + i * kLanes), biases = load(bias_sum + i * kLanes);
      for (int r = 0; r < R; ++r) {
        float* at = second + r * W + i * kLanes;
        const Vector active = load(at);
        outputs += active * scores[r];
        const Vector gradient = active > zero ? output * scores[r] : zero;
        biases += gradient;
        store(at, gradient);
      }
      store(output_sum + i * kLanes, outputs);
      store(bias_sum + i * kLanes, biases);
    }
    Tile<W, R> tile = {};
    tile.template multiply<W>(second, adjoint.transposed(weights.weight2));
    for (int r = 0; r < R; ++r) {
      for (int i = 0; i < kVectors; ++i) {
        tile.row[r][i] = load(hidden + r * W + i * kLanes) > zero ? tile.row[r][i] : zero;
      }
      tile.put(r, candidate + r * W);
    }
  }
};

/// The scores: gradients of the nodes after the last step, in `node`, and of the globals.
template <int W>
void score_back(const FusedWeights& weights, const FusedGraph& graph, const FusedRows& rows,
                const float* nodes, const float* globals_value, const Adjoint& adjoint, float* globals) {
  const FusedGradients& g = adjoint.gradients;
  for_tiles<W>(graph.candidates, ScoreBackPass<W>{weights, rows, adjoint});
  add_outer<W, W>(rows.hidden, rows.second, graph.candidates, adjoint.sum(weights.weight2));
  float* roots = g.sender;
  float* matched = g.receiver;
  float from_graph[W];
  fill<W>(from_graph, 1);
  fill<W>(roots, graph.nodes);
  fill<W>(matched, graph.nodes);
  fill<W>(g.node, graph.nodes);
  const auto* offsets = graph.offsets;
  const auto* places = graph.matched;
  const auto* rules = graph.rules;
  const float* candidates = g.candidate;
  float* rule_rows = adjoint.sum(weights.rule_rows);
  for (std::size_t row = 0; row < graph.candidates; ++row) {
    const float* gradient = candidates + row * W;
    add_row<W>(from_graph, gradient);
    add_row<W>(rule_rows + std::size_t{rules[row]} * W, gradient);
    const std::uint32_t begin = offsets[row], end = offsets[row + 1];
    if (begin == end) continue;
    add_row<W>(roots + std::size_t(places[begin]) * W, gradient);
    Tile<W, 1> share;
    share.set(0, gradient);
    for (auto& vector : share.row[0]) vector *= 1.0f / static_cast<float>(end - begin);
    for (std::uint32_t at = begin; at < end; ++at) share.add_to(0, matched + std::size_t(places[at]) * W);
  }
  affine_back<W>(globals_value, from_graph, weights.graph, weights.bias1, globals, adjoint);
  for_tiles<W>(graph.nodes, TwoProductsBackPass<W>{roots, matched, adjoint.transposed(weights.root),
                                                   adjoint.transposed(weights.matched), g.node});
  add_outer<W, W>(nodes, roots, graph.nodes, adjoint.sum(weights.root));
  add_outer<W, W>(nodes, matched, graph.nodes, adjoint.sum(weights.matched));
}

/// The input layer: rows of `gradient` become those of the pre-activation.
template <int W, int K>
struct InputBackPass {
  const FusedNorm& norm;
  const FusedNormTape& tape;
  const Adjoint& adjoint;
  const float* bias;
  const std::uint16_t* kinds;  // or null
  const float* kind_rows;
  float* gradient;

  template <int R>
  __attribute__((always_inline)) void run(std::size_t first) const {
    Tile<W, R> tile;
    for (int r = 0; r < R; ++r) tile.set(r, gradient + (first + r) * W);
    norm_relu_back(tile, norm, tape, first, adjoint);
    for (int r = 0; r < R; ++r) tile.put(r, gradient + (first + r) * W);
    tile.add_all_to(adjoint.sum(bias));
    if (kinds == nullptr) return;
    float* kind_sums = adjoint.sum(kind_rows);
    for (int r = 0; r < R; ++r) tile.add_to(r, kind_sums + std::size_t{kinds[first + r]} * W);
  }
};

template <int W>
void backward(const FusedWeights& weights, const FusedGraph& graph, const FusedRows& rows,
              const FusedGradients& gradients) {
  const Adjoint adjoint{gradients};
  const FusedStepRows& last = rows.step[weights.steps - 1];
  float globals[W];
  for (int i = 0; i < W; ++i) globals[i] = gradients.globals[i];
  fill<W>(gradients.edge, graph.edges);
  score_back<W>(weights, graph, rows, last.node_to, last.globals_to, adjoint, globals);
  for (std::size_t i = weights.steps; i-- > 0;) {
    step_back<W>(weights.step[i], graph, rows, rows.step[i], adjoint, globals);
  }
  for_tiles<W>(graph.nodes,
               InputBackPass<W, kNodeInputs>{weights.node_input, rows.node_input, adjoint, weights.node_bias,
                                             graph.kinds, weights.kind_rows, gradients.node});
  for_tiles<W>(graph.edges,
               InputBackPass<W, kEdgeInputs>{weights.edge_input, rows.edge_input, adjoint, weights.edge_bias,
                                             nullptr, nullptr, gradients.edge});
  InputBackPass<W, kGlobalInputs>{
      weights.global_input, rows.global_input, adjoint, weights.global_bias, nullptr, nullptr, globals}
      .template run<1>(0);
  add_outer<W, kNodeInputs>(graph.node_features, gradients.node, graph.nodes,
                            adjoint.sum(weights.node_weight));
  add_outer<W, kEdgeInputs>(graph.edge_features, gradients.edge, graph.edges,
                            adjoint.sum(weights.edge_weight));
  add_outer<W, kGlobalInputs>(graph.globals, globals, 1, adjoint.sum(weights.global_weight));
}

inline FusedKernels select(std::size_t width) {
  switch (width) {
    case 16:
      return {forward<16>, backward<16>};
    case 32:
      return {forward<32>, backward<32>};
    case 64:
      return {forward<64>, backward<64>};
    default:
      return {nullptr, nullptr};
  }
}
