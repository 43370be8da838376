#include <algorithm>
#include <vector>

#include "core/rules/build.h"
#include "core/rules/reach.h"

namespace regraft::rules {

std::vector<graph::Value> read_values(const CompiledRule& rule, Bindings& bindings) {
  std::vector<graph::Value> values;
  const auto add = [&](const Tensor& t) {
    if (t.present() && t.value.present() && !t.constant()) values.push_back(t.value);
  };
  for (Slot slot : rule.reads) {
    const std::size_t count = slot.domain < 0 ? 1 : bindings.count(slot.domain);
    for (std::size_t member = 0; member < count; ++member) add(bindings.tensor(slot, member));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

bool makes_cycle(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  if (rule.always_acyclic) return false;
  std::vector<graph::Value> replaced;
  for_each_replacement(rule, bindings,
                       [&](const Tensor& before, const Tensor&) { replaced.push_back(before.value); });
  return Reach(graph).any(replaced, read_values(rule, bindings));
}

std::string check_types(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings) {
  try {
    if (std::string problem = Builder(rule, graph, bindings).run(); !problem.empty()) return problem;
  } catch (const graph::GraphError& e) {
    return e.what();
  }
  std::string problem;
  bool changes = false;
  for_each_replacement(rule, bindings, [&](const Tensor& before, const Tensor& after) {
    if (!after.present() || before.type != after.type) problem = "the replacement has another type";
    changes = changes || !(after.value == before.value);
  });
  if (problem.empty() && !changes) problem = "the graph already has this form";
  return problem;
}

}  // namespace regraft::rules
