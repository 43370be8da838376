#include "core/nn/inference/controller.h"

#include <algorithm>
#include <cmath>

#include "core/nn/fused/controller_engine.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {

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

ControllerChoice Controller::choose_rule(std::uint32_t row, std::span<const std::uint32_t> legal,
                                         ActionSelection selection, Rng& rng) {
  if (legal.empty()) throw NnError("no rule is legal", "controller", "NO-OP always is");
  ControllerChoice choice;
  const auto drawn =
      state_->engine->draw_rule(row, legal, selection == ActionSelection::drawn ? &rng : nullptr);
  choice.rule = legal[drawn.index];
  choice.log_rule = drawn.log_probability;
  choice.value = state_->engine->value(row);
  choice.rule_value = state_->engine->rule_value(row, choice.rule);
  return choice;
}

void Controller::choose_location(std::uint32_t row, std::uint32_t count, ActionSelection selection, Rng& rng,
                                 ControllerChoice& choice) {
  const auto drawn = state_->engine->draw_location(row, choice.rule, std::min(count, config().locations),
                                                   selection == ActionSelection::drawn ? &rng : nullptr);
  choice.location = static_cast<std::uint32_t>(drawn.index);
  choice.log_location = drawn.log_probability;
}

std::vector<float> Controller::log_probabilities(std::span<const float> state,
                                                 std::span<const std::uint16_t> counts) {
  if (state.size() != config().state || counts.size() != config().rules)
    throw NnError("the state is of another world model", "controller", "use the bundle it belongs to");
  const std::uint32_t row = 0;
  state_->engine->read({&row, 1}, state.data(), state.size());
  std::vector<std::uint32_t> legal;
  for (std::uint32_t rule = 0; rule < counts.size(); ++rule)
    if (counts[rule] > 0) legal.push_back(rule);
  std::vector<float> all;
  const std::vector<float> rules = state_->engine->rule_log_probabilities(row, legal);
  for (std::size_t i = 0; i < legal.size(); ++i) {
    const bool noop = legal[i] + 1 == config().rules;
    // Locations beyond those it tells apart are no worse and no better than the last one.
    const std::uint32_t known = std::min<std::uint32_t>(counts[legal[i]], config().locations);
    const std::vector<float> locations =
        noop ? std::vector<float>{0.0f} : state_->engine->location_log_probabilities(row, legal[i], known);
    const std::uint32_t sharing = counts[legal[i]] - known + 1;
    for (std::uint32_t l = 0; l < counts[legal[i]]; ++l) {
      const float share = l + 1 >= known && !noop ? std::log(static_cast<float>(sharing)) : 0.0f;
      all.push_back(rules[i] + locations[std::min<std::size_t>(l, locations.size() - 1)] - share);
    }
  }
  return all;
}

const ControllerConfig& Controller::config() const {
  return state_->engine->config();
}

}
