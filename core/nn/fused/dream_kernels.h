#pragma once

#include <cstddef>
#include <cstdint>

namespace regraft::nn::internal {

// The arithmetic of a dream step on many rows: products with what follows them while a tile is in registers.
// Plain pointers, compiled once for each instruction set as fused.h. `order` lists the rows that are meant,
// or is null for all from 0 on; strides are in floats.

/// out[row] = start + x[row] W.
struct DreamProduct {
  std::size_t rows, depth, panels;
  const std::uint32_t* order;
  const float* x;
  std::size_t x_stride;
  const float* weight;  // [panels][depth][panel]
  const float* start;   // [panels][panel]
  float* out;
  std::size_t out_stride;
};

/// One step of an LSTM: gates = bias + x W with x = [input, hidden], then
///   cell = f cell + i g,  hidden = o tanh(cell).
/// `hidden` must not overlap with x.
struct DreamLstm {
  std::size_t rows, depth, blocks;  // a block is `lanes` units
  const std::uint32_t* order;
  const float* x;
  std::size_t x_stride;
  const float* weight;  // [blocks][depth][i, f, g, o][lanes]
  const float* bias;    // [blocks][i, f, g, o][lanes]
  float* cell;          // in place
  std::size_t cell_stride;
  float* hidden;
  std::size_t hidden_stride;
};

/// Draws of a row from its component: z = mean + scale sigma N(0, 1), sigma = floor + softplus(raw).
struct DreamDraw {
  std::size_t count;  // padded to lanes
  const float* mean;
  const float* raw;
  const double* radius;  // [count] uniform in [0, 1), as Rng::normal draws them; null: z = mean
  const double* angle;   // [count]
  float floor, scale;
  float* z;
};

struct DreamKernels {
  std::size_t lanes;  // floats of a vector
  std::size_t panel;  // columns of a panel: a multiple of lanes
  void (*product)(const DreamProduct&);
  void (*lstm)(const DreamLstm&);
  void (*draw)(const DreamDraw&);
  /// out = start + x W for one row and the first `columns`, a multiple of lanes, of W [depth, stride].
  void (*narrow)(const float* x, std::size_t depth, const float* weight, std::size_t stride,
                 const float* start, float* out, std::size_t columns);
  /// In place; `count` is a multiple of lanes.
  void (*tanh)(float* values, std::size_t count);
  /// exp(scale (x - shift)), and their sum; `count` is a multiple of lanes. At most e^88.
  float (*exponentials)(const float* x, float shift, float scale, float* out, std::size_t count);
};
DreamKernels dream_kernels_base();
DreamKernels dream_kernels_avx2();
DreamKernels dream_kernels_avx512();
/// With the widest vectors of this machine.
DreamKernels best_dream_kernels();

}
