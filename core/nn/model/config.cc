#include "core/nn/model/config.h"

#include <string>

#include "core/nn/model/nn_error.h"

namespace regraft::nn {

NetworkConfig preset(std::string_view name, std::uint32_t node_kinds) {
  if (name == "cpu") return {.width = 32, .steps = 3, .node_kinds = node_kinds};
  if (name == "gpu") return {.width = 64, .steps = 5, .node_kinds = node_kinds};
  if (name == "seeds") return {.width = 8, .steps = 2, .node_kinds = node_kinds, .head_width = 32};
  throw UsageError("unknown network preset '" + std::string(name) + "'", "network.preset",
                   "use cpu, gpu or seeds");
}

void check(const NetworkConfig& config) {
  if (config.width < 8 || config.width > 512 || config.width % 8 != 0) {
    throw NnError("network width " + std::to_string(config.width) + " is out of range", "network.width",
                  "use a multiple of 8 from 8 to 512");
  }
  if (config.steps < 1 || config.steps > 16) {
    throw NnError(std::to_string(config.steps) + " message-passing steps are out of range", "network.steps",
                  "use 1 to 16");
  }
  if (config.node_kinds < 1 || config.node_kinds > 65536) {
    throw NnError(std::to_string(config.node_kinds) + " node kinds are out of range", "network.node_kinds",
                  "use 1 to 65536");
  }
  if (config.head_width > 512) {
    throw NnError("head width " + std::to_string(config.head_width) + " is out of range",
                  "network.head_width", "use at most 512");
  }
  const bool bound = config.head == Head::hierarchical;
  if (bound ? config.rules < 1 || config.rules > 65535 : config.rules != 0) {
    throw NnError(
        std::to_string(config.rules) + " rules do not fit a " + std::string(enum_name(config.head)) + " head",
        "network.rules", bound ? "use the number of rules and 1 for NO-OP" : "use 0");
  }
}

void check_actions(const NetworkConfig& config, env::ActionMode mode) {
  if (config.action_mode == mode) return;
  throw NnError(
      config.action_mode == env::ActionMode::all_sites
          ? "the policy chooses among rules at all of their sites, too, and here nothing stands for them"
          : "the policy was trained without rules at all of their sites, and here they are actions",
      "policy",
      "use workload.action_mode=" + std::string(enum_name(config.action_mode)) + ", or another policy");
}

void check_rules(const NetworkConfig& config, std::size_t rule_count, env::ActionMode mode) {
  check_actions(config, mode);
  if (config.head == Head::pointer || config.rules == rule_count + 1) return;
  throw NnError("a hierarchical policy for " + std::to_string(config.rules - 1) +
                    " rules cannot choose among " + std::to_string(rule_count),
                "rules", "use the rule set it was trained on, or a policy with the pointer head");
}

}
