#include "launch/call/find_sizes.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "launch/call/subprocess_checks.h"

namespace regraft::launch {
namespace {

/// Names with a colon may be of models that another job has.
void check_names(const task::NamedSizes& bound, const std::vector<std::string>& known) {
  for (const auto& [name, size] : bound) {
    if (std::ranges::find(known, name) != known.end() || name.find(':') != std::string::npos) continue;
    const std::string hint = suggestion(name, known);
    throw UsageError("no dynamic dim has this name", "--bind " + name,
                     hint.empty() ? "`regraft inspect` lists them" : hint);
  }
}

}  // namespace

task::NamedSizes find_sizes(const task::WorkloadOptions& workload) {
  task::NamedSizes sizes = workload.bind;
  std::vector<std::string> known;
  bool all_run = true;
  const std::vector<std::string> names = task::model_names(workload.models);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::filesystem::exists(workload.models[i])) continue;  // synthetic, or found missing by others
    const task::NamedSizes bound = task::sizes_for(names[i], workload.bind);
    const exec::Feed feed =
        feed_in_child(workload.models[i],
                      {.bindings = task::binding_texts(bound), .inputs = {}, .foreign = true, .feed = {}}, 0);
    all_run = all_run && feed.runs();
    if (!feed.runs())
      std::fprintf(stderr, "regraft: %s: no sizes found: %s (%s)\n", names[i].c_str(), feed.problem.c_str(),
                   feed.remedy.c_str());
    else if (!feed.taken.empty())
      std::fprintf(stderr, "regraft: %s: sizes: %s\n", names[i].c_str(), feed.describe().c_str());
    if (!feed.runs()) continue;
    for (const auto& [dim, size] : feed.points.front().all()) {
      known.push_back(dim);
      const auto held = bound.find(dim);
      if (size > 0 && held == bound.end()) sizes[task::own_dim(names[i], dim)] = size;
    }
  }
  if (all_run) check_names(workload.bind, known);
  return sizes;
}

}
