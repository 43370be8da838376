#pragma once

#include <cmath>
#include <vector>

#include "core/graph/evaluate.h"
#include "core/graph/op.h"

namespace regraft::rules::testing {

/// An LSTM or a GRU as the standard's page says it, by naive loops. `in`: x [steps, batch, inputs], weights
/// [1, gates * hidden, inputs] and [1, gates * hidden, hidden], both biases, nothing, and the states. A NaN
/// opens a gate, as in ONNX Runtime.
inline std::vector<graph::HostTensor> recurrence(graph::OpKind kind,
                                                 const std::vector<const graph::HostTensor*>& in) {
  using graph::HostTensor;
  const bool lstm = kind == graph::OpKind::lstm;
  const std::int64_t steps = in[0]->dims[0], batch = in[0]->dims[1], inputs = in[0]->dims[2],
                     hidden = in[2]->dims[2], rows = in[2]->dims[1];
  const auto at = [](const HostTensor& tensor, std::int64_t i) -> double {
    return tensor.real[static_cast<std::size_t>(i)];
  };
  const auto given = [&](std::size_t i) {
    HostTensor none;
    none.dtype = in[0]->dtype;
    none.dims = {1, batch, hidden};
    none.real.assign(static_cast<std::size_t>(batch * hidden), 0.0);
    return i < in.size() && in[i] ? *in[i] : none;
  };
  const auto bias = [&](std::int64_t i) { return in.size() > 3 && in[3] ? at(*in[3], i) : 0.0; };
  HostTensor y, h = given(5), c = given(6);
  y.dtype = in[0]->dtype;
  y.dims = {steps, 1, batch, hidden};
  for (std::int64_t t = 0; t < steps; ++t) {
    const HostTensor before = h;
    const auto of_x = [&](std::int64_t b, std::int64_t row) {
      double sum = bias(row);
      for (std::int64_t i = 0; i < inputs; ++i)
        sum += at(*in[0], (t * batch + b) * inputs + i) * at(*in[1], row * inputs + i);
      return sum;
    };
    const auto of_h = [&](std::int64_t b, std::int64_t row) {
      double sum = bias(rows + row);
      for (std::int64_t i = 0; i < hidden; ++i)
        sum += at(before, b * hidden + i) * at(*in[2], row * hidden + i);
      return sum;
    };
    const auto sigmoid = [](double x) { return std::isnan(x) ? 1 : 1 / (1 + std::exp(-x)); };
    const auto tangent = [](double x) { return std::isnan(x) ? 1 : std::tanh(x); };
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < hidden; ++k) {
        const auto row = [&](std::int64_t gate) { return gate * hidden + k; };
        const auto both = [&](std::int64_t gate) { return of_x(b, row(gate)) + of_h(b, row(gate)); };
        double& state = h.real[static_cast<std::size_t>(b * hidden + k)];
        if (lstm) {
          const double in_gate = sigmoid(both(0)), out_gate = sigmoid(both(1)), forget = sigmoid(both(2));
          double& memory = c.real[static_cast<std::size_t>(b * hidden + k)];
          memory = forget * memory + in_gate * tangent(both(3));
          state = out_gate * std::tanh(memory);
        } else {
          const double update = sigmoid(both(0)), reset = sigmoid(both(1));
          const double fresh = tangent(of_x(b, row(2)) + reset * of_h(b, row(2)));
          state = (1 - update) * fresh + update * at(before, b * hidden + k);
        }
      }
    y.real.insert(y.real.end(), h.real.begin(), h.real.end());
  }
  return lstm ? std::vector{y, h, c} : std::vector{y, h};
}

}
