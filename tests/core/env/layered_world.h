#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/rng.h"
#include "core/env/table_cost_factory.h"
#include "core/graph/graph.h"
#include "core/rules/set/rule_set.h"
#include "support/validate.h"

namespace regraft::env {

/// A random graph with weights, shared values and rules whose matches overlap, create and destroy each other
/// and can be undone for ever: layers of parallel MatMuls of one input, added up by a random tree of Adds,
/// with Relus between.
struct LayeredWorld {
  explicit LayeredWorld(std::uint64_t seed, std::uint32_t layers = 2)
      : graph(tables),
        bytes(kWidth * kWidth * sizeof(float) * 64),
        rules(rules::RuleSet::parse(kRules, "layered.rules")) {
    Rng rng(seed, "layered");
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(64));
    graph::Value value{
        graph.add_input(tables.intern(graph::DType::float32, std::array<graph::Dim, 2>{3, kWidth}), 0), 0};
    for (std::uint32_t layer = 0; layer < layers; ++layer) value = add_layer(value, rng);
    graph.add_output(value);
    graph::validate(graph);
    graph.commit();
  }

  static constexpr graph::Dim kWidth = 8;
  static constexpr const char* kRules =
      "add-left: Add(x, Add(y, z)) => Add(Add(x, y), z)\n"
      "add-right: Add(Add(x, y), z) => Add(x, Add(y, z))\n"
      "matmul-sum: Add(MatMul(x, u), MatMul(x, v)), const(u, v) => MatMul(x, Add(u, v))\n"
      "matmul-pair: a = MatMul(x, u); b = MatMul(x, v); const(u, v), rank(u) == 2, rank(v) == 2"
      " => y = MatMul(x, Concat{1}(u, v)); (a, b) = Split{1, [u.1, v.1]}(y)\n"
      "relu-relu: Relu(Relu(x)) => Relu(x)\n"
      "relu-max: Relu(Add(x, y)) => Relu(Add(y, x))\n";

  static TableCostFactory costs() {
    TableCostFactory::Table table;
    table.fill(1.0);
    table[static_cast<std::size_t>(graph::OpKind::matmul)] = 10.0;
    table[static_cast<std::size_t>(graph::OpKind::split)] = 2.5;
    return TableCostFactory(table);
  }

  graph::Tables tables;
  graph::Graph graph;
  std::vector<std::byte> bytes;
  rules::RuleSet rules;

 private:
  graph::Value op(graph::OpKind kind, std::vector<graph::Value> inputs) {
    return {graph.add(kind, tables.intern(graph::AttrBlock{}), inputs), 0};
  }

  graph::Value weight() {
    const graph::TypeId type =
        tables.intern(graph::DType::float32, std::array<graph::Dim, 2>{kWidth, kWidth});
    const std::size_t size = kWidth * kWidth * sizeof(float);
    const std::span<const std::byte> all(bytes);
    const std::size_t at = static_cast<std::size_t>(next_weight++) * size;
    return graph.weight_value(tables.weights().source(type, all.subspan(at, size), next_weight));
  }

  graph::Value add_layer(graph::Value input, Rng& rng) {
    std::vector<graph::Value> terms = {input};
    for (int i = 0; i < 4; ++i) terms.push_back(op(graph::OpKind::matmul, {input, weight()}));
    while (terms.size() > 1) {
      const std::size_t at = rng.below(terms.size() - 1);
      terms[at] = op(graph::OpKind::add, {terms[at], terms[at + 1]});
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      if (rng.below(3) == 0) terms[at] = op(graph::OpKind::relu, {terms[at]});
    }
    return op(graph::OpKind::relu, {op(graph::OpKind::relu, {terms[0]})});
  }

  std::int32_t next_weight = 0;
};

}
