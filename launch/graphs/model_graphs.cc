#include "launch/graphs/model_graphs.h"

#include <numeric>

#include "core/rules/lang/rule_error.h"

namespace regraft::launch {

ModelGraphs::ModelGraphs(const onnx::ImportedModel& model) : model_(&model) {
  for (std::size_t at = 0; at < model.graph_count(); ++at) graphs_.push_back(model.graph(at));
}

std::size_t ModelGraphs::find(const std::string& path) const {
  for (std::size_t at = 0; at < size(); ++at)
    if (model_->graph_path(at) == path) return at;
  throw rules::RuleError("there is no graph '" + path + "'", model_->path().string(),
                         "it belongs to another model or version");
}

rules::NamedGraphs ModelGraphs::named() {
  rules::NamedGraphs named;
  for (std::size_t at = 0; at < size(); ++at) named.emplace_back(path(at), &graphs_[at]);
  return named;
}

std::size_t ModelGraphs::operation_count() const {
  return std::accumulate(
      graphs_.begin(), graphs_.end(), std::size_t{0},
      [](std::size_t sum, const graph::Graph& graph) { return sum + graph.operation_count(); });
}

std::vector<double> ModelGraphs::runs(const graph::Bindings& bindings) const {
  const graph::Bindings bound = bindings.in(model_->tables());
  std::vector<double> runs;
  for (std::size_t at = 0; at < size(); ++at) runs.push_back(model_->graph_runs(at).at(bound));
  return runs;
}

void ModelGraphs::clean_up_as_runtimes() {
  for (graph::Graph& graph : graphs_) rules::clean_up_as_runtimes(graph);
}

void ModelGraphs::clean_up(const rules::RuleSet& rules, rules::RewriteLog& log) {
  for (std::size_t call = 0; call < model_->inlined_calls(); ++call)
    log.entries.push_back({std::string(rules::kInlineStep), {static_cast<graph::NodeId>(call)}});
  for (std::size_t at = 0; at < size(); ++at) {
    for (const rules::CleanupStep& step : rules::clean_up(graphs_[at], rules))
      log.entries.push_back({step.name, {step.node}, 0, 0, path(at)});
    graphs_[at].commit();
  }
}

}
