#pragma once

#include <cstddef>
#include <cstdint>

namespace regraft::nn::internal {

// The forward pass of one graph in a few passes over its rows: products, sums over neighbours, normalisation
// and residual of a tile of rows happen in registers. Plain pointers, so that fused_body.h can be compiled
// once for each instruction set without sharing inline functions between them.

struct FusedNorm {
  const float* gain;
  const float* shift;
};

/// One message-passing step; every matrix is [w, w] unless said otherwise.
struct FusedStep {
  const float *sender, *receiver, *own;  // the three parts of the node embeddings' product
  const float *edge_own, *edge_global, *edge_bias;
  FusedNorm edge;
  const float *incoming, *outgoing, *node_global, *node_bias;
  FusedNorm node;
  const float *global_own, *global_nodes, *global_edges, *global_bias;
  FusedNorm global;
};

struct FusedWeights {
  std::size_t steps;
  const FusedStep* step;
  const float *kind_rows, *node_weight, *node_bias;  // [kinds, w], [kNodeFeatures, w], [w]
  FusedNorm node_input;
  const float *edge_weight, *edge_bias;
  FusedNorm edge_input;
  const float *global_weight, *global_bias;
  FusedNorm global_input;
  const float *root, *matched, *graph, *pointer_bias1, *pointer_weight2, *pointer_bias2, *pointer_output;
  const float *value_weight1, *value_bias1, *value_output, *value_output_bias;
  const float* rule_rows;  // [rule_count + 1, w], already multiplied by pointer.rule
};

/// One observation; the caller has checked sizes and indices.
struct FusedGraph {
  std::size_t nodes, edges, candidates;
  const std::uint16_t* kinds;
  const float *node_features, *edge_features, *globals;
  const std::int32_t *senders, *receivers;
  const std::uint16_t* xfers;
  const std::uint32_t* offsets;
  const std::int32_t* matched;
};

/// Scratch rows of w floats, and the results.
struct FusedScratch {
  float *node, *part_sender, *part_receiver, *part_own, *incoming, *outgoing;  // [nodes, w]
  float* edge;                                                                 // [edges, w]
  float* hidden;                                                               // [candidates, w]
  float *incoming_scale, *outgoing_scale;                                      // [nodes]
  float* scores;                                                               // [candidates], a result
  float* value;                                                                // [1], a result
};

using FusedForward = void (*)(const FusedWeights&, const FusedGraph&, const FusedScratch&);

/// The pass for networks of this width, or null: widths 16, 32 and 64 have one.
FusedForward fused_forward_base(std::size_t width);
FusedForward fused_forward_avx2(std::size_t width);
FusedForward fused_forward_avx512(std::size_t width);

}  // namespace regraft::nn::internal
