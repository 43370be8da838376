#include "launch/evaluate/script_method.h"

#include <algorithm>

#include "core/rules/rewrite/script.h"

namespace regraft::launch {
namespace {

bool wants_refused_rules(const std::vector<rules::ScriptStep>& steps, const rules::RuleSet& rules) {
  return std::ranges::any_of(steps, [&](const rules::ScriptStep& step) {
    return wants_refused_rules(step.body, rules) || !rules.refused_domain(step.name).empty();
  });
}

}  // namespace

std::vector<std::filesystem::path> scripts_for(const std::filesystem::path& folder,
                                               const std::string& model) {
  if (!std::filesystem::is_directory(folder))
    throw UsageError("is no folder", folder.string(), "name one of scripts, such as configs/scripts");
  std::vector<std::filesystem::path> scripts;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".script" && entry.path().stem().string().starts_with(model + "-"))
      scripts.push_back(entry.path());
  std::ranges::sort(scripts);
  return scripts;
}

std::optional<ScriptOutcome> try_script(const std::filesystem::path& path, const task::Task& task) {
  const rules::Script script = rules::Script::load(path);
  if (wants_refused_rules(script.steps, task.rules())) return std::nullopt;
  graph::Graph scratch = task.start(), graph = task.start();
  const auto costs = task.costs().make(graph);
  ScriptOutcome outcome{costs->cost(), {}, costs->cost().latency_us, 0};
  for (const rules::Match& match : rules::run_script(script, scratch, task.rules())) {
    const graph::Graph::Mark mark = graph.mark();
    rules::apply(graph, task.rules(), match);
    costs->update(graph.touched_since(mark));
    outcome.best_us = std::min(outcome.best_us, costs->cost().latency_us);
    ++outcome.rewrites;
  }
  outcome.last = costs->cost();
  return outcome;
}

}
