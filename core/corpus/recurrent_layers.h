#pragma once

#include "core/corpus/net.h"

namespace regraft::corpus {

enum class Cell : std::uint8_t { rnn, gru, lstm };

/// ONNX's own recurrent op over [steps, batch, width]: [steps, batch, directions * hidden].
Tensor recurrent(Net& net, const Tensor& x, Cell cell, std::int64_t hidden, std::int64_t directions);

/// What a cell carries from step to step; the second one of an LSTM alone.
struct CellState {
  Tensor hidden, memory{};
};

/// The weights of a cell that is written out step by step.
struct CellWeights {
  Cell cell = Cell::lstm;
  Tensor input{}, state{}, bias{};  // one matrix for all gates: over [input, state] where `state` has no name
};

/// With one matrix over input and state joined, as Keras' cells have it, or with two, as PyTorch's.
CellWeights cell_weights(Net& net, Cell cell, std::int64_t width, std::int64_t hidden);

/// One step, over [batch, width].
CellState step(Net& net, const Tensor& x, const CellState& state, const CellWeights& weights);

}
