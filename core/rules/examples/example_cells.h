#pragma once

#include <optional>
#include <vector>

#include "core/graph/op.h"
#include "core/rules/examples/example_windows.h"

namespace regraft::rules {

/// Chooses dims of recurrent operations, and of what a cell of one is written with.
class ExampleCells : public ExampleWindows {
  using K = graph::OpKind;

 public:
  ExampleCells(Choices& choices, const ExampleLimits& limits, std::size_t gates)
      : ExampleWindows(choices, limits), gates_(static_cast<std::int64_t>(gates)) {
    if (gates == 0) return;
    batch_ = 1 + static_cast<std::int64_t>(choices.drawn(2));
    hidden_ = 1 + static_cast<std::int64_t>(choices.drawn(3));
    one_gate_ = choices.drawn(2) == 0;
  }

  bool has_gates() const { return gates_ > 0; }
  /// Where a gate begins: any of them, or the one that all are.
  std::int64_t start_of_gate() {
    return one_gate_ ? 0
                     : hidden_ * static_cast<std::int64_t>(choices_.drawn(static_cast<std::size_t>(gates_)));
  }
  std::int64_t hidden() const { return hidden_; }

 protected:
  /// Inputs or a state.
  std::optional<Dims> first_of_cell() {
    if (gates_ == 0 || choices_.drawn(8) == 0) return std::nullopt;
    return Dims{batch_, choices_.drawn(2) == 0 ? hidden_ : 2};
  }
  /// Weights and biases of products, the state beside its input, and what is kept of the cell before.
  std::optional<Dims> cell_dims(K kind, const std::vector<Dims>& given) {
    if (gates_ == 0) return std::nullopt;
    const std::int64_t columns = gates_ * hidden_;
    trans_b_ = kind == K::gemm && given.size() == 1 ? choices_.below(2) : trans_b_;
    if (choices_.drawn(8) == 0 || given[0].size() != 2) return std::nullopt;
    if (kind == K::gemm && given.size() == 2) return Dims{columns};
    if (kind == K::gemm || kind == K::matmul)
      return trans_b_ == 1 && kind == K::gemm ? Dims{columns, given[0][1]} : Dims{given[0][1], columns};
    if (kind == K::concat) joined_axis_ = 1;
    if (kind == K::add && given[0][1] == columns) return Dims{columns};
    return Dims{batch_, hidden_};
  }
  /// Rows for the weights [1, gates * hidden, inputs] or for the state [1, batch, hidden] that is there; or
  /// any.
  Dims rows_for(const Dims& other) {
    Dims dims;
    for (int i = 0; i < 3; ++i) dims.push_back(choices_.pick(limits_.dims));
    if (other.size() == 3 && other[1] % 3 != 0 && other[1] % 4 != 0) {
      batch_ = other[1];
      hidden_ = other[2];
    } else if (other.size() == 3) {
      dims[2] = other[2];
    } else {
      batch_ = choices_.pick({1, 2});
    }
    dims[1] = batch_;
    return dims;
  }
  /// Weights of the rows and of the state, a bias of both, lengths that are never there, and states.
  Dims recurrent_dims(std::int64_t gates, const std::vector<Dims>& given) {
    const Dims& x = given[0];
    if (x.size() != 3 || given.size() == 4) throw graph::GraphError("the draw does not fit", "instance", "");
    if (given.size() == 1) {
      if (hidden_ == 0 || choices_.drawn(12) == 0) hidden_ = choices_.pick({1, 2});
      return {1, gates * hidden_, x[2]};
    }
    const std::int64_t rows = given[1].size() == 3 ? given[1][1] : gates;
    if (given.size() == 2) return {1, rows, rows / gates};
    if (given.size() == 3) return {1, 2 * rows};
    return {1, x[1], rows / gates};
  }

  std::size_t trans_b_ = 0;
  std::optional<std::size_t> joined_axis_;

 private:
  std::int64_t gates_, batch_ = 1, hidden_ = 0;
  bool one_gate_ = false;
};

}
