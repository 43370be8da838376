#include "core/corpus/recurrent_layers.h"

#include <cmath>

#include "core/corpus/basic_ops.h"

namespace regraft::corpus {
namespace {

std::int64_t gates(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

const char* op_of(Cell cell) {
  return cell == Cell::lstm ? "LSTM" : cell == Cell::gru ? "GRU" : "RNN";
}

double deviation(std::int64_t fan_in) {
  return 1 / std::sqrt(static_cast<double>(fan_in));
}

/// x * input + state * matrix + bias; or one product of both, joined.
Tensor products(Net& net, const Tensor& x, const Tensor& hidden, const CellWeights& weights) {
  if (weights.state.name.empty())
    return add(net, matmul(net, concat(net, {x, hidden}, 1), weights.input), weights.bias);
  const Tensor of_x = matmul(net, x, weights.input);
  const Tensor of_state = matmul(net, hidden, weights.state);
  return add(net, add(net, of_x, weights.bias), of_state);
}

CellState lstm_step(Net& net, const Tensor& x, const CellState& state, const CellWeights& weights) {
  const std::vector<Tensor> gate = chunk(net, products(net, x, state.hidden, weights), 1, 4);
  const Tensor forget = unary(net, "Sigmoid", gate[1]);
  const Tensor kept = mul(net, forget, state.memory);
  const Tensor in = unary(net, "Sigmoid", gate[0]);
  const Tensor memory = add(net, kept, mul(net, in, unary(net, "Tanh", gate[2])));
  const Tensor out = unary(net, "Sigmoid", gate[3]);
  return {mul(net, out, unary(net, "Tanh", memory)), memory};
}

/// The candidate's state is weighted before its matrix is applied, so it has products of its own (Cho et al.
/// 2014).
CellState gru_step(Net& net, const Tensor& x, const CellState& state, const CellWeights& weights) {
  const std::vector<Tensor> of_x = chunk(net, add(net, matmul(net, x, weights.input), weights.bias), 1, 3);
  const std::vector<Tensor> of_state = chunk(net, matmul(net, state.hidden, weights.state), 1, 3);
  const Tensor update = unary(net, "Sigmoid", add(net, of_x[0], of_state[0]));
  const Tensor reset = unary(net, "Sigmoid", add(net, of_x[1], of_state[1]));
  const Tensor candidate = unary(net, "Tanh", add(net, of_x[2], mul(net, reset, of_state[2])));
  const Tensor kept = mul(net, update, state.hidden);
  const Tensor rest = binary(net, "Sub", net.scalar(1), update);
  return {add(net, mul(net, rest, candidate), kept)};
}

}  // namespace

Tensor recurrent(Net& net, const Tensor& x, Cell cell, std::int64_t hidden, std::int64_t directions) {
  const std::int64_t steps = x.dim(0), batch = x.dim(1), rows = gates(cell) * hidden;
  const Tensor input = net.weight({directions, rows, x.dim(2)}, deviation(x.dim(2)));
  const Tensor state = net.weight({directions, rows, hidden}, deviation(hidden));
  std::vector<Tensor> inputs = {x, input, state, net.weight({directions, 2 * rows}, 0.05)};
  std::vector<Attr> attrs = {{"hidden_size", hidden}};
  if (directions == 2) attrs.push_back({"direction", std::string("bidirectional")});
  if (cell == Cell::gru) attrs.push_back({"linear_before_reset", 1});
  if (net.dialect().is_torch()) {  // states at the start are given
    const Ints dims = {directions, batch, hidden};
    const Tensor zeros =
        net.table(dims, std::vector<float>(static_cast<std::size_t>(element_count(dims)), 0));
    inputs.push_back({});
    inputs.push_back(zeros);
    if (cell == Cell::lstm) inputs.push_back(zeros);
  }
  net.count(steps * batch * directions * rows * (x.dim(2) + hidden), batch);
  const Tensor y = net.node(op_of(cell), inputs, {steps, directions, batch, hidden}, std::move(attrs));
  if (directions == 1) return squeeze(net, y, 1);
  return reshape(net, transpose(net, y, {0, 2, 1, 3}), {steps, batch, directions * hidden});
}

CellWeights cell_weights(Net& net, Cell cell, std::int64_t width, std::int64_t hidden) {
  CellWeights weights{.cell = cell};
  const std::int64_t columns = gates(cell) * hidden;
  const bool joined = net.dialect().is(Exporter::tensorflow) && cell != Cell::gru;
  if (joined) {
    weights.input = net.weight({width + hidden, columns}, deviation(width + hidden));
  } else {
    weights.input = net.weight({width, columns}, deviation(width));
    weights.state = net.weight({hidden, columns}, deviation(hidden));
  }
  weights.bias = net.weight({columns}, 0.05);
  return weights;
}

CellState step(Net& net, const Tensor& x, const CellState& state, const CellWeights& weights) {
  if (weights.cell == Cell::lstm) return lstm_step(net, x, state, weights);
  if (weights.cell == Cell::gru) return gru_step(net, x, state, weights);
  return {unary(net, "Tanh", products(net, x, state.hidden, weights))};
}

}
