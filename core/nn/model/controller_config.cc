#include "core/nn/model/controller_config.h"

#include <cmath>
#include <string>

#include "core/base/rng.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

constexpr double kLastLayerScale = 0.01;  // a first policy that is nearly uniform

}  // namespace

void check(const ControllerConfig& config) {
  const auto require = [](std::uint32_t value, std::uint32_t most, const char* what) {
    if (value < 1 || value > most)
      throw NnError(std::string(what) + " is out of range", "controller config",
                    "see core/nn/model/controller_config.h");
  };
  if (config.kind != ControllerKind::hierarchical && config.kind != ControllerKind::linear)
    throw NnError("the kind is unknown", "controller config", "see core/nn/model/controller_config.h");
  require(config.state, 8192, "state");
  require(config.rules, 65535, "rules");
  require(config.locations, 65535, "locations");
  require(config.width, 4096, "width");
  require(config.query, 64, "query");
}

std::vector<TensorSpec> weight_layout(const ControllerConfig& config) {
  check(config);
  const std::int64_t state = config.state, rules = config.rules, locations = config.locations,
                     width = config.width, query = config.query;
  std::vector<TensorSpec> layout;
  if (config.kind == ControllerKind::linear) {
    append_tensor(layout, "query.weight", {state, query});
    append_tensor(layout, "query.bias", {query});
    append_tensor(layout, "action.xfer", {rules, query});
    append_tensor(layout, "action.location", {locations, query});
    return layout;
  }
  for (const char* part : {"xfer", "value1", "location", "value2"}) {
    const std::string prefix = part;
    append_tensor(layout, prefix + ".weight1", {state, width});
    append_tensor(layout, prefix + ".bias1", {width});
    if (prefix == "location" || prefix == "value2") append_tensor(layout, prefix + ".xfer", {rules, width});
    const std::int64_t outputs = prefix == "xfer" ? rules : prefix == "location" ? locations : 1;
    append_tensor(layout, prefix + ".weight2", {width, outputs});
    append_tensor(layout, prefix + ".bias2", {outputs});
  }
  return layout;
}

Weights initial_weights(const ControllerConfig& config, std::uint64_t seed) {
  Weights weights{weight_layout(config), {}};
  weights.values.assign(weights.tensors.back().offset + weights.tensors.back().count, 0.0f);
  for (const TensorSpec& spec : weights.tensors) {
    Rng rng(seed, "controller/" + spec.name);
    if (spec.name.starts_with("action.")) {
      for (float& value : weights.tensor(spec.name)) value = static_cast<float>(rng.normal());
    } else if (spec.name.ends_with(".weight1") || spec.name.ends_with(".weight2")) {
      const bool policy = spec.name == "xfer.weight2" || spec.name == "location.weight2";
      const double bound =
          (policy ? kLastLayerScale : 1) / std::sqrt(static_cast<double>(spec.shape.front()));
      for (float& value : weights.tensor(spec.name)) value = static_cast<float>(rng.uniform(-bound, bound));
    }
  }
  return weights;
}

std::size_t query_parameters(const ControllerConfig& config) {
  return (std::size_t{config.state} + 1) * config.query;
}

}
