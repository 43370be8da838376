#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/rewrite_log.h"

namespace regraft::launch {

/// The graphs of a model while they are rewritten, in the importer's order: the main one, then the bodies.
/// The model outlives them.
class ModelGraphs {
 public:
  explicit ModelGraphs(const onnx::ImportedModel& model);

  std::size_t size() const { return graphs_.size(); }
  graph::Graph& operator[](std::size_t at) { return graphs_[at]; }
  const graph::Graph& operator[](std::size_t at) const { return graphs_[at]; }
  operator std::span<const graph::Graph>() const { return graphs_; }  // implicit: for export
  const std::string& path(std::size_t at) const { return model_->graph_path(at); }
  /// The place of the graph with this path; throws RuleError where there is none.
  std::size_t find(const std::string& path) const;
  rules::NamedGraphs named();

  /// Nodes of all graphs, constants left out.
  std::size_t operation_count() const;
  /// How often each graph runs for one run of the model.
  std::vector<double> runs(const graph::Bindings& bindings) const;
  /// rules::clean_up_as_runtimes.
  void clean_up_as_runtimes();
  /// Clean-up of each graph, logged behind the calls that import replaced.
  void clean_up(const rules::RuleSet& rules, rules::RewriteLog& log);

 private:
  const onnx::ImportedModel* model_;
  std::vector<graph::Graph> graphs_;
};

}
