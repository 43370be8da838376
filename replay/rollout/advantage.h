#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regraft::replay {

/// Consecutive steps of one episode (or of a stretch of one) as arrays of equal length T.
struct ReturnInputs {
  std::span<const float> rewards;            // r_t
  std::span<const float> values;             // V(s_t)
  std::span<const std::uint8_t> terminated;  // 1: nothing is bootstrapped after t
  float bootstrap_value = 0;                 // V(s_T), used unless the last step terminated
  float gamma = 1;
};

struct Advantages {
  std::vector<float> advantages;  // A_t
  std::vector<float> targets;     // of the value function
};

/// Generalised advantage estimation (Schulman et al. 2016): A_t = sum over k of (gamma lambda)^k delta_{t+k},
/// with delta_t = r_t + gamma V(s_{t+1}) - V(s_t); targets A_t + V(s_t). Sums in double.
Advantages gae(const ReturnInputs& inputs, float lambda);

/// V-trace (Espeholt et al. 2018, equations 1 and 2) with clip levels rho and c on the ratios pi/mu; lambda
/// multiplies c. Targets v_t; advantages rho_t (r_t + gamma v_{t+1} - V(s_t)). On policy with lambda 1 the
/// targets are n-step returns.
Advantages v_trace(const ReturnInputs& inputs, std::span<const float> ratios, float lambda,
                   float rho_clip = 1, float c_clip = 1);

/// Steps of a policy that decides in two halves, first the rule, then its location: V1 values a state, V2 a
/// state and a chosen rule. With a second half the errors are
///   delta1 = V2(s, x) - V1(s),  delta2 = r + gamma V1(s') - V2(s, x),
/// without one (NO-OP, or a policy that decides at once) delta1 = r + gamma V1(s') - V1(s). Inside a step
/// nothing is discounted; lambda counts at every half.
struct HalfStepInputs {
  std::span<const float> rewards;               // r_t
  std::span<const float> values;                // V1(s_t)
  std::span<const float> rule_values;           // V2(s_t, x_t); not read where there is no second half
  std::span<const std::uint8_t> second_halves;  // 1: the step has a second half
  std::span<const std::uint8_t> terminated;     // 1: nothing is bootstrapped after t
  float bootstrap_value = 0;                    // V1(s_T), used unless the last step terminated
  float gamma = 1;
};

/// One entry a step in both; entries of `second` where there is no second half are 0.
struct HalfStepAdvantages {
  Advantages first, second;
};

HalfStepAdvantages half_step_gae(const HalfStepInputs& inputs, float lambda);

/// `first_ratios`, `second_ratios`: pi/mu of each half; the second is not read where there is none.
HalfStepAdvantages half_step_v_trace(const HalfStepInputs& inputs, std::span<const float> first_ratios,
                                     std::span<const float> second_ratios, float lambda, float rho_clip = 1,
                                     float c_clip = 1);

}
