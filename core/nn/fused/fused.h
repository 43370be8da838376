#pragma once

#include <cstddef>
#include <cstdint>

namespace regraft::nn::internal {

// The encoder and the scores of network.h for one graph at a time, forward and backward, in a few passes over
// its rows. Products, sums over neighbours, normalisation and residual of a tile of rows happen in registers.
// Plain pointers, so that fused_body.h can be compiled once for each instruction set without sharing inline
// functions between them.

struct FusedNorm {
  const float* gain;
  const float* shift;
};

/// One message-passing step; every matrix is [w, w].
struct FusedStep {
  const float *sender, *receiver, *own;  // the three parts of the node embeddings' product
  const float *edge_own, *edge_global, *edge_bias;
  FusedNorm edge;
  const float *incoming, *outgoing, *node_global, *node_bias;
  FusedNorm node;
  const float *global_own, *global_nodes, *global_edges, *global_bias;
  FusedNorm global;
};

/// All of it lies in one buffer, so that a gradient or a transpose of the same layout is found by offset.
struct FusedWeights {
  std::size_t steps;
  const FusedStep* step;
  const float *kind_rows, *node_weight, *node_bias;  // [kinds, w], [kNodeFeatures, w], [w]
  FusedNorm node_input;
  const float *edge_weight, *edge_bias;
  FusedNorm edge_input;
  const float *global_weight, *global_bias;
  FusedNorm global_input;
  // The pointer head, or the location part of a hierarchical one.
  const float *root, *matched, *graph, *bias1, *weight2, *bias2, *output;
  const float* rule_rows;  // [rows of the rules, w]: already multiplied by pointer.rule, or location.xfer
};

/// One observation; the caller has checked sizes and indices.
struct FusedGraph {
  std::size_t nodes, edges, candidates;
  const std::uint16_t* kinds;
  const float *node_features, *edge_features, *globals;
  const std::int32_t *senders, *receivers;
  const std::uint16_t* rules;  // of the candidates: rows of rule_rows
  const std::uint32_t* offsets;
  const std::int32_t* matched;
};

/// What a backward pass needs of LN(relu(x)): the normalised rows [rows, w], 1 / deviation and the normalised
/// value of a zero [rows]. Null pointers where no backward pass follows.
struct FusedNormTape {
  float *normal, *scale, *floor;
};

/// Rows [nodes, w], [edges, w] and [w] of one step. Without a backward pass `from` and `to` are the same.
struct FusedStepRows {
  float *node_from, *node_to, *edge_from, *edge_to, *globals_from, *globals_to;
  float *incoming, *outgoing;    // [nodes, w], scaled sums of messages
  float *node_mean, *edge_mean;  // [w]
  FusedNormTape edge, node, global;
};

/// Results: `scores`, and the graph's embedding (final_globals).
struct FusedRows {
  const FusedStepRows* step;
  FusedNormTape node_input, edge_input, global_input;
  float *part_sender, *part_receiver, *part_own;  // [nodes, w], free after each step
  float *hidden, *second;                         // [candidates, w]; second is null without a backward pass
  float *incoming_scale, *outgoing_scale;         // [nodes], given: 1 / sqrt(degree)
  float* scores;                                  // [candidates], a result
};

/// Gradients of the results, and where to add those of the weights.
struct FusedGradients {
  const float* weights;     // start of the weights' buffer
  const float* transposed;  // its layout, every square matrix transposed
  float* sums;              // its layout, added to
  const float* scores;      // [candidates]
  const float* globals;     // [w]
  // scratch: [nodes, w] six times, [edges, w] twice, [candidates, w] once
  float *node, *node_pre, *incoming, *outgoing, *sender, *receiver;
  float *edge, *edge_pre;
  float* candidate;
};

using FusedForward = void (*)(const FusedWeights&, const FusedGraph&, const FusedRows&);
using FusedBackward = void (*)(const FusedWeights&, const FusedGraph&, const FusedRows&,
                               const FusedGradients&);

/// Null pointers when there is no kernel for this width; widths 16, 32 and 64 have one.
struct FusedKernels {
  FusedForward forward;
  FusedBackward backward;
};
FusedKernels fused_kernels_base(std::size_t width);
FusedKernels fused_kernels_avx2(std::size_t width);
FusedKernels fused_kernels_avx512(std::size_t width);

}
