#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace regraft {

/// A named random stream: the same (seed, name) gives the same numbers on every machine. xoshiro256**
/// (Blackman and Vigna 2018), seeded by splitmix64 of a hash of both. Copyable; its state can be saved and
/// restored exactly.
class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;
  using result_type = std::uint64_t;

  Rng(std::uint64_t seed, std::string_view name);

  std::uint64_t next();
  /// Uniform in [0, bound); bound > 0; unbiased (Lemire 2019).
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller, no cached second value, so that state is the four words alone).
  double normal();

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  std::uint64_t operator()() { return next(); }

 private:
  State state_{};
};

}
