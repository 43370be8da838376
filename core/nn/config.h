#pragma once

#include <cstdint>
#include <string_view>

namespace regraft::nn {

/// The size of a policy network. Two networks of the same config have the same weight layout.
struct NetworkConfig {
  std::uint32_t width = 32;        // of every embedding; a multiple of 8 in [8, 512]
  std::uint32_t steps = 3;         // message-passing steps, [1, 16]
  std::uint32_t node_kinds = 256;  // rows of the op-kind embedding; every node kind must be below it

  bool operator==(const NetworkConfig&) const = default;
};

/// `cpu`: width 32, 3 steps. `gpu`: width 64, 5 steps. Throws UsageError naming the presets for any other
/// name.
NetworkConfig preset(std::string_view name, std::uint32_t node_kinds);

/// Throws NnError when a value is out of its range.
void check(const NetworkConfig& config);

}  // namespace regraft::nn
