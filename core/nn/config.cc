#include "core/nn/config.h"

#include <string>

#include "core/nn/error.h"

namespace regraft::nn {

NetworkConfig preset(std::string_view name, std::uint32_t node_kinds) {
  if (name == "cpu") return {.width = 32, .steps = 3, .node_kinds = node_kinds};
  if (name == "gpu") return {.width = 64, .steps = 5, .node_kinds = node_kinds};
  throw UsageError("unknown network preset '" + std::string(name) + "'", "network.preset", "use cpu or gpu");
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
}

}  // namespace regraft::nn
