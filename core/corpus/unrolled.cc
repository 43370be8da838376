#include <cmath>

#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/recurrent_layers.h"

namespace regraft::corpus {
namespace {

/// A cell of many gates of its own products, added in a tree, as architecture search found it (Zoph and Le
/// 2017).
Tensor searched_cell(Net& net, const Tensor& x, const Tensor& hidden, const std::vector<Tensor>& weights) {
  const Activation kinds[] = {Activation::tanh, Activation::relu, Activation::sigmoid, Activation::tanh};
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i + 1 < weights.size(); i += 2) {
    const Tensor of_x = matmul(net, x, weights[i]);
    parts.push_back(activate(net, add(net, of_x, matmul(net, hidden, weights[i + 1])), kinds[i / 2 % 4]));
  }
  for (bool adds = true; parts.size() > 1; adds = !adds) {
    std::vector<Tensor> joined;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      joined.push_back(binary(net, adds ? "Add" : "Mul", parts[i], parts[i + 1]));
    parts = joined;
  }
  return activate(net, parts.front(), Activation::tanh);
}

}  // namespace

/// Recurrent networks that are written out step by step, as streaming models are exported.
void build_unrolled(Net& net, Draw& draw) {
  const bool searched = draw.chance(0.3);
  const Cell cell = draw.pick({Cell::lstm, Cell::lstm, Cell::gru, Cell::rnn});
  const std::int64_t steps = draw.pick({4, 6, 8, 10, 16}), batch = draw.pick({1, 1, 4, 8});
  const std::int64_t hidden = draw.pick({64, 128, 192, 256, 512}), layers = searched ? 1 : draw.pick({1, 2});
  const std::int64_t width = searched ? hidden : draw.pick({40, 64, 128, 256});
  const std::int64_t gates = draw.pick({4, 8});

  const Tensor x = net.input("x", {batch, steps, width});
  std::vector<CellState> states;
  std::vector<CellWeights> weights;
  std::vector<Tensor> searched_weights;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    states.push_back({net.input("hidden_" + std::to_string(layer), {batch, hidden})});
    if (searched) continue;
    if (cell == Cell::lstm)
      states.back().memory = net.input("memory_" + std::to_string(layer), {batch, hidden});
    weights.push_back(cell_weights(net, cell, layer == 0 ? width : hidden, hidden));
  }
  for (std::int64_t i = 0; searched && i < 2 * gates; ++i)
    searched_weights.push_back(net.weight({hidden, hidden}, 1 / std::sqrt(static_cast<double>(hidden))));

  std::vector<Tensor> seen;
  for (std::int64_t i = 0; i < steps; ++i) {
    Tensor y = select(net, x, 1, i);
    for (std::size_t layer = 0; layer < states.size(); ++layer) {
      if (searched)
        states[layer] = {searched_cell(net, y, states[layer].hidden, searched_weights)};
      else
        states[layer] = step(net, y, states[layer], weights[layer]);
      y = states[layer].hidden;
    }
    seen.push_back(unsqueeze(net, y, 1));
  }
  net.output(linear(net, concat(net, seen, 1), draw.pick({10, 40, 64})));
  for (const CellState& state : states) {
    net.output(state.hidden);
    if (!state.memory.name.empty()) net.output(state.memory);
  }
}

}
