#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/model/controller_config.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

struct ControllerChoice {
  std::uint32_t rule = 0, location = 0;
  float log_rule = 0;      // of that rule among the legal ones
  float log_location = 0;  // of that location among the rule's; 0 for NO-OP
  float value = 0;         // V1(s); 0 where the controller has no values
  float rule_value = 0;    // V2(s, rule)
};

enum class ActionSelection { drawn, most_likely };

/// A controller on the CPU, for many states at once. Not thread-safe; weights may be swapped between calls.
class Controller {
 public:
  /// Throws NnError when the weights are not of this config.
  Controller(const ControllerConfig& config, const Weights& weights);
  ~Controller();
  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;

  void set_weights(const Weights& weights);

  /// Reads the states of these rows, `stride` floats apart; choose() and the values are asked afterwards.
  void read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride);
  /// Draws a rule of `legal` (ascending, not empty) for a row that was read.
  ControllerChoice choose_rule(std::uint32_t row, std::span<const std::uint32_t> legal,
                               ActionSelection selection, Rng& rng);
  /// Draws one of its `count` locations: for every rule but NO-OP, once after choose_rule().
  void choose_location(std::uint32_t row, std::uint32_t count, ActionSelection selection, Rng& rng,
                       ControllerChoice& choice);

  /// Log-probabilities of all (rule, location) of one state, by rule, then by location, where `counts`
  /// [rules] says how many locations each has; 0: not legal.
  std::vector<float> log_probabilities(std::span<const float> state, std::span<const std::uint16_t> counts);

  const ControllerConfig& config() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}
