#pragma once

#include <array>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/graph.h"

namespace regraft::graph::testing {

/// A random graph of float matrices [4, 4]: inputs, weights, unary, binary, MatMul, Concat + Split; one to
/// three outputs.
inline Graph random_graph(Tables& tables, Rng& rng, std::size_t operations) {
  Graph graph(tables);
  const std::array<Dim, 2> dims{4, 4};
  const TypeId matrix = tables.intern(DType::float32, dims);
  std::vector<Value> values;
  for (std::int32_t i = 0; i < 2; ++i) values.push_back({graph.add_input(matrix, i), 0});
  for (int i = 0; i < 2; ++i) {
    std::array<float, 16> data{};
    for (float& x : data) x = static_cast<float>(rng.normal());
    values.push_back(graph.weight_value(tables.weights().literal(matrix, std::as_bytes(std::span(data)))));
  }
  const AttrId none = tables.intern(AttrBlock{});
  const auto pick = [&] { return values[rng.below(values.size())]; };
  const std::array unary{OpKind::relu, OpKind::tanh, OpKind::neg, OpKind::sigmoid};
  const std::array binary{OpKind::add, OpKind::mul, OpKind::matmul, OpKind::sub};
  for (std::size_t i = 0; i < operations; ++i) {
    const std::uint64_t form = rng.below(10);
    if (form < 4) {
      values.push_back({graph.add(unary[rng.below(unary.size())], none, std::array{pick()}), 0});
    } else if (form < 9) {
      values.push_back({graph.add(binary[rng.below(binary.size())], none, std::array{pick(), pick()}), 0});
    } else {
      const AttrId axis = tables.intern(AttrBlock{{Attr::axis, std::int64_t{0}}});
      const AttrId parts = tables.intern(AttrBlock{{Attr::axis, std::int64_t{0}}, {Attr::split, Ints{4, 4}}});
      const Value joined{graph.add(OpKind::concat, axis, std::array{pick(), pick()}), 0};
      const NodeId split = graph.add(OpKind::split, parts, std::array{joined});
      values.push_back({split, 0});
      values.push_back({split, 1});
    }
  }
  for (std::uint64_t i = 0, count = 1 + rng.below(3); i < count; ++i)
    graph.add_output(values[values.size() - 1 - rng.below(std::min<std::size_t>(values.size(), 4))]);
  graph.commit();
  return graph;
}

}
