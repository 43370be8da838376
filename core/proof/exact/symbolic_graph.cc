#include "core/proof/exact/symbolic_graph.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/graph/order.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::OpKind;
using graph::Value;
using TypeChange = std::function<graph::TensorType(graph::TensorType)>;
using Respelling = std::function<graph::AttrBlock(const graph::Node&)>;

// The same operations on inputs of other types.
std::optional<graph::Graph> rebuilt(const graph::Graph& graph, const TypeChange& change,
                                    const Respelling& attrs_of) {
  graph::Tables& tables = graph.tables();
  graph::Graph out(tables);
  std::map<graph::NodeId, graph::NodeId> made;
  const auto moved = [&](Value v) { return v.present() ? Value{made.at(v.node), v.output} : v; };
  try {
    for (const graph::NodeId id : graph::topological_order(graph)) {
      const graph::Node& node = graph.node(id);
      if (node.kind == OpKind::input) {
        made[id] = out.add_input(tables.intern(change(tables.type(node.outputs[0]))), node.origin);
        continue;
      }
      if (node.kind == OpKind::weight) {
        made[id] = out.weight_value(node.weight).node;
        continue;
      }
      std::vector<Value> inputs;
      InlineVector<graph::Operand, 4> operands;
      for (const Value v : node.inputs) {
        inputs.push_back(moved(v));
        operands.push_back({v.present() ? out.type_id(inputs.back()) : tables.type_none(),
                            v.present() ? out.weight_of(inputs.back()) : graph::WeightId::none, v.present()});
      }
      const auto attrs = graph::canonical_attrs(tables, node.kind, attrs_of(node), operands);
      inputs.resize(operands.size());
      made[id] = out.add(node.kind, tables.intern(attrs), inputs);
    }
  } catch (const graph::GraphError&) {
    return std::nullopt;
  }
  for (const Value v : graph.outputs()) out.add_output(moved(v));
  return out;
}

// What says the same of the known dims x in words that do not name them: bounds of slices counted from the
// end, or past it; shapes that copy dims.
graph::AttrBlock respelled(OpKind kind, graph::AttrBlock attrs, const graph::TensorType& x, Rng& rng) {
  if (kind == OpKind::slice && attrs.has(Attr::starts)) {
    graph::Ints starts = attrs.ints(Attr::starts), ends = attrs.ints(Attr::ends);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const graph::Dim dim = x.dims[static_cast<std::size_t>(attrs.ints(Attr::axes)[i])];
      if (starts[i] < dim && rng.below(4) == 0) starts[i] -= dim;
      if (rng.below(3) > 0) continue;
      ends[i] = ends[i] < dim ? ends[i] - dim : std::numeric_limits<std::int64_t>::max();
    }
    attrs.set(Attr::starts, starts);
    attrs.set(Attr::ends, ends);
  }
  if (kind == OpKind::reshape && attrs.has(Attr::shape)) {
    graph::Ints shape = attrs.ints(Attr::shape);
    for (std::size_t i = 0; i < shape.size() && i < x.rank(); ++i) {
      if (shape[i] == x.dims[i]) shape[i] = 0;
    }
    if (!shape.empty() && rng.below(2) == 0) shape[static_cast<std::size_t>(rng.below(shape.size()))] = -1;
    attrs.set(Attr::shape, shape);
  }
  return attrs;
}

}  // namespace

std::optional<SymbolicGraph> with_symbols(const graph::Graph& graph, Rng& rng) {
  graph::Tables& tables = graph.tables();
  std::map<std::int64_t, std::optional<graph::SymbolId>> chosen;
  Sizes sizes;
  const auto change = [&](graph::TensorType type) {
    for (graph::Dim& dim : type.dims) {
      const auto [held, fresh] = chosen.try_emplace(dim);
      if (fresh && rng.below(2) == 0) {
        held->second = tables.symbol("size" + std::to_string(dim));
        sizes[*held->second] = dim;
      }
      if (held->second) dim = graph::symbol_dim(*held->second);
    }
    return type;
  };
  auto out = rebuilt(graph, change, [&](const graph::Node& node) {
    const bool spelt = node.kind == OpKind::slice || node.kind == OpKind::reshape;
    const graph::AttrBlock& attrs = tables.attrs(node.attrs);
    return spelt ? respelled(node.kind, attrs, graph.type(node.inputs[0]), rng) : attrs;
  });
  if (!out || sizes.empty()) return std::nullopt;
  return SymbolicGraph{std::move(*out), std::move(sizes)};
}

std::optional<graph::Graph> with_sizes(const graph::Graph& graph, const Sizes& sizes) {
  const auto change = [&](graph::TensorType type) {
    for (graph::Dim& dim : type.dims) {
      if (graph::is_symbol(dim)) dim = sizes.at(graph::dim_symbol(dim));
    }
    return type;
  };
  return rebuilt(graph, change, [&](const graph::Node& node) { return graph.tables().attrs(node.attrs); });
}

bool has_elements(const graph::Graph& graph) {
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    for (const graph::TypeId type : graph.node(id).outputs) {
      const auto& dims = graph.tables().type(type).dims;
      if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return false;
    }
  }
  return true;
}

}
