#include "core/nn/controller.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/nn/error.h"
#include "core/nn/internal/controller_engine.h"

namespace regraft::nn {
namespace {

constexpr double kLastLayerScale = 0.01;  // a first policy that is nearly uniform

}  // namespace

void check(const ControllerConfig& config) {
  const auto require = [](std::uint32_t value, std::uint32_t most, const char* what) {
    if (value < 1 || value > most)
      throw NnError(std::string(what) + " is out of range", "controller config", "see core/nn/controller.h");
  };
  if (config.kind != ControllerKind::hierarchical && config.kind != ControllerKind::linear)
    throw NnError("the kind is unknown", "controller config", "see core/nn/controller.h");
  require(config.state, 8192, "state");
  require(config.xfers, 65535, "xfers");
  require(config.locations, 65535, "locations");
  require(config.width, 4096, "width");
  require(config.query, 64, "query");
}

std::vector<TensorSpec> weight_layout(const ControllerConfig& config) {
  check(config);
  const std::int64_t state = config.state, xfers = config.xfers, locations = config.locations,
                     width = config.width, query = config.query;
  std::vector<TensorSpec> layout;
  if (config.kind == ControllerKind::linear) {
    append_tensor(layout, "query.weight", {state, query});
    append_tensor(layout, "query.bias", {query});
    append_tensor(layout, "action.xfer", {xfers, query});
    append_tensor(layout, "action.location", {locations, query});
    return layout;
  }
  for (const char* part : {"xfer", "value1", "location", "value2"}) {
    const std::string prefix = part;
    append_tensor(layout, prefix + ".weight1", {state, width});
    append_tensor(layout, prefix + ".bias1", {width});
    if (prefix == "location" || prefix == "value2") append_tensor(layout, prefix + ".xfer", {xfers, width});
    const std::int64_t outputs = prefix == "xfer" ? xfers : prefix == "location" ? locations : 1;
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

class Controller::State {
 public:
  explicit State(const ControllerConfig& config) : engine(internal::make_controller_engine(config)) {}
  std::unique_ptr<internal::ControllerEngine> engine;
};

Controller::Controller(const ControllerConfig& config, const Weights& weights)
    : state_(std::make_unique<State>(config)) {
  set_weights(weights);
}
Controller::~Controller() = default;
Controller::Controller(Controller&&) noexcept = default;
Controller& Controller::operator=(Controller&&) noexcept = default;

void Controller::set_weights(const Weights& weights) {
  if (weights.tensors != weight_layout(config()))
    throw NnError("these are weights of another network", "controller weights",
                  "use the config they were made with");
  state_->engine->load(weights);
}

void Controller::read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride) {
  state_->engine->read(rows, states, stride);
}

ControllerChoice Controller::choose_xfer(std::uint32_t row, std::span<const std::uint32_t> legal, Take take,
                                         Rng& rng) {
  if (legal.empty()) throw NnError("no xfer is legal", "controller", "NO-OP always is");
  ControllerChoice choice;
  const auto drawn = state_->engine->draw_xfer(row, legal, take == Take::drawn ? &rng : nullptr);
  choice.xfer = legal[drawn.index];
  choice.log_xfer = drawn.log_probability;
  choice.value = state_->engine->value(row);
  choice.xfer_value = state_->engine->xfer_value(row, choice.xfer);
  return choice;
}

void Controller::choose_location(std::uint32_t row, std::uint32_t count, Take take, Rng& rng,
                                 ControllerChoice& choice) {
  const auto drawn = state_->engine->draw_location(row, choice.xfer, std::min(count, config().locations),
                                                   take == Take::drawn ? &rng : nullptr);
  choice.location = static_cast<std::uint32_t>(drawn.index);
  choice.log_location = drawn.log_probability;
}

float Controller::value(std::uint32_t row) {
  return state_->engine->value(row);
}

std::vector<float> Controller::log_probabilities(std::span<const float> state,
                                                 std::span<const std::uint16_t> counts) {
  if (state.size() != config().state || counts.size() != config().xfers)
    throw NnError("the state is of another world model", "controller", "use the bundle it belongs to");
  const std::uint32_t row = 0;
  state_->engine->read({&row, 1}, state.data(), state.size());
  std::vector<std::uint32_t> legal;
  for (std::uint32_t xfer = 0; xfer < counts.size(); ++xfer)
    if (counts[xfer] > 0) legal.push_back(xfer);
  std::vector<float> all;
  const std::vector<float> xfers = state_->engine->xfer_log_probabilities(row, legal);
  for (std::size_t i = 0; i < legal.size(); ++i) {
    const bool noop = legal[i] + 1 == config().xfers;
    // Locations beyond those it tells apart are no worse and no better than the last one.
    const std::uint32_t known = std::min<std::uint32_t>(counts[legal[i]], config().locations);
    const std::vector<float> locations =
        noop ? std::vector<float>{0.0f} : state_->engine->location_log_probabilities(row, legal[i], known);
    const std::uint32_t sharing = counts[legal[i]] - known + 1;
    for (std::uint32_t l = 0; l < counts[legal[i]]; ++l) {
      const float share = l + 1 >= known && !noop ? std::log(static_cast<float>(sharing)) : 0.0f;
      all.push_back(xfers[i] + locations[std::min<std::size_t>(l, locations.size() - 1)] - share);
    }
  }
  return all;
}

const ControllerConfig& Controller::config() const {
  return state_->engine->config();
}

}  // namespace regraft::nn
