#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/cost/analytic_cost.h"
#include "core/env/environment.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"
#include "support/models.h"

namespace regraft::testing {

/// What environments of a model of tests/models need: the graph as `optimise` starts from it, the shipped
/// rules, and the costs of one CPU core. They refer to it: it outlives them.
struct ModelWorld {
  explicit ModelWorld(const std::string& name)
      : imported(onnx::import_model(unpacked_model(name))), start(imported.graph()) {
    rules::clean_up(start, rules);
    start.commit();
  }
  env::Environment make(const env::EnvOptions& options = {}) const {
    return {start, rules, costs, options, clock};
  }

  const std::string configs = std::string(REGRAFT_SOURCE_DIR) + "/configs";
  onnx::ImportedModel imported;
  graph::Graph start;
  rules::RuleSet rules = rules::RuleSet::load(configs + "/rules");
  cost::AnalyticFactory costs{cost::load_device(configs + "/devices/cpu-1core.toml")};
  SystemClock clock;
};

}
