#include "core/rules/instantiate/legal.h"

#include <algorithm>

namespace regraft::rules {

InlineVector<graph::Value, 8> read_values(const CompiledRule& rule, Bindings& bindings) {
  InlineVector<graph::Value, 8> values;
  const auto add = [&](const Tensor& t) {
    if (t.present() && t.value.present() && !t.constant()) values.push_back(t.value);
  };
  for (Slot slot : rule.reads) {
    const std::size_t count = slot.member_set < 0 ? 1 : bindings.count(slot.member_set);
    for (std::size_t member = 0; member < count; ++member) add(bindings.tensor(slot, member));
  }
  std::sort(values.begin(), values.end());
  values.resize(static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin()));
  return values;
}

bool makes_cycle(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings,
                 Reachability& reachability) {
  if (rule.always_acyclic) return false;
  InlineVector<graph::Value, 8> replaced;
  for_each_replacement(rule, bindings,
                       [&](const Tensor& before, const Tensor&) { replaced.push_back(before.value); });
  return reachability.any(graph, replaced, read_values(rule, bindings));
}

bool has_known_ranks(const graph::Graph& graph, const Bindings& bindings) {
  const auto ranked = [&](const Frame& frame) {
    return std::all_of(frame.nodes.begin(), frame.nodes.end(), [&](graph::NodeId id) {
      if (id == graph::kNoNode) return true;
      const graph::Node& node = graph.node(id);
      return std::all_of(node.inputs.begin(), node.inputs.end(),
                         [&](graph::Value v) { return !v.present() || graph.type(v).ranked; }) &&
             std::all_of(node.outputs.begin(), node.outputs.end(),
                         [&](graph::TypeId id_of_type) { return graph.tables().type(id_of_type).ranked; });
    });
  };
  return ranked(bindings.plain) &&
         std::all_of(bindings.members.begin(), bindings.members.end(), [&](const Frames& members) {
           return std::all_of(members.begin(), members.end(), ranked);
         });
}

// Rules speak of dims of one and more, of ranks that their proof covers, and, where they compute, of real
// numbers.
std::string_view outside_of_claim(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  const graph::Tables& tables = graph.tables();
  const auto covered = [&](graph::TypeId id) {
    const graph::TensorType& type = tables.type(id);
    return type.dims.size() <= rule.most_rank &&
           std::find(type.dims.begin(), type.dims.end(), 0) == type.dims.end();
  };
  for (const PatternNode& pattern : rule.nodes) {
    const std::size_t count = pattern.member_set < 0 ? 1 : bindings.count(pattern.member_set);
    for (std::size_t member = 0; member < count; ++member) {
      const graph::NodeId id = bindings.frame(pattern.member_set, member).nodes[pattern.index];
      if (id == graph::kNoNode) continue;
      const graph::Node& node = graph.node(id);
      if (pattern.floats && !graph::is_float(tables.type(node.outputs[0]).dtype))
        return "it computes with integers, of which the rule says nothing";
      const bool all = std::all_of(node.outputs.begin(), node.outputs.end(), covered) &&
                       std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](graph::Value v) { return !v.present() || covered(graph.type_id(v)); });
      if (!all) return "a rank that the rule's proof does not cover, or a dim of 0";
    }
  }
  return {};
}

std::string_view check_types(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings,
                             OperationMemo& memo) {
  if (!has_known_ranks(graph, bindings)) return "a rank is unknown";
  if (const auto problem = outside_of_claim(rule, graph, bindings); !problem.empty()) return problem;
  try {
    if (const auto problem = Builder(rule, graph, bindings, memo).run(); !problem.empty()) return problem;
  } catch (const graph::GraphError& e) {
    return memo.keep(e);
  }
  std::string_view problem;
  bool changes = false;
  for_each_replacement(rule, bindings, [&](const Tensor& before, const Tensor& after) {
    if (!after.present() || before.type != after.type) problem = "the replacement has another type";
    changes = changes || !(after.value == before.value);
  });
  if (problem.empty() && !changes) problem = "the graph already has this form";
  return problem;
}

}
