#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/env/action_mode.h"

namespace regraft::nn {

/// How a policy chooses among the legal (rule, location) and NO-OP.
enum class Head : std::uint8_t {
  pointer,       // one softmax over all, each scored from its nodes and its rule's text: reads any rule set
  hierarchical,  // first a rule, then one of its locations; bound to the rule set it was made for
};
constexpr std::array<std::string_view, 2> enum_names(Head) {
  return {"pointer", "hierarchical"};
}

/// The size of a policy network. Two networks of the same config have the same weight layout.
struct NetworkConfig {
  std::uint32_t width = 32;        // of every embedding; a multiple of 8 in [8, 512]
  std::uint32_t steps = 3;         // message-passing steps, [1, 16]
  std::uint32_t node_kinds = 256;  // rows of the op-kind embedding; every node kind must be below it
  Head head = Head::pointer;
  std::uint32_t head_width = 0;  // of a hierarchical head's hidden layers, at most 512; 0: as `width`
  std::uint32_t rules = 0;       // hierarchical: the rules and NO-OP; pointer: 0
  env::ActionMode action_mode = env::ActionMode::one_site;  // among which locations it chooses

  bool operator==(const NetworkConfig&) const = default;
};

/// The width of the head's hidden layers.
inline std::uint32_t hidden_width(const NetworkConfig& config) {
  return config.head == Head::hierarchical && config.head_width != 0 ? config.head_width : config.width;
}

/// `cpu`: width 32, 3 steps. `gpu`: width 64, 5 steps. `seeds`: width 8, 2 steps, hidden layers of 32. Each
/// with the pointer head. Throws UsageError naming the presets for any other name.
NetworkConfig preset(std::string_view name, std::uint32_t node_kinds);

/// Throws NnError when a value is out of its range.
void check(const NetworkConfig& config);

/// Throws NnError where a hierarchical head was made for another number of rules, or the network for another
/// mode than the rules' rows.
void check_rules(const NetworkConfig& config, std::size_t rule_count, env::ActionMode mode);

/// Throws NnError where the network was made for actions of another mode.
void check_actions(const NetworkConfig& config, env::ActionMode mode);

}
