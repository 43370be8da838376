#include "learner/ppo/network_options.h"

namespace regraft::learner {

const BoundOptions<NetworkOptions>& network_options() {
  static const auto options = BoundOptions<NetworkOptions>::fixed_on_resume({
      {"network.preset", &NetworkOptions::preset, one_of({"cpu", "gpu", "seeds"}),
       "size of the policy network"},
      {"network.head", &NetworkOptions::head, any(),
       "pointer: one softmax over all rewrites; hierarchical: first the rule, then its location"},
      {"network.width", &NetworkOptions::width, between(0, 512),
       "width of every embedding, a multiple of 8; 0: the preset's"},
      {"network.steps", &NetworkOptions::steps, between(0, 16), "steps of message passing; 0: the preset's"},
      {"network.head_width", &NetworkOptions::head_width, between(0, 512),
       "width of a hierarchical head's hidden layers; 0: the preset's"},
  });
  return options;
}

nn::NetworkConfig network_config(const NetworkOptions& options, std::size_t node_kinds,
                                 std::size_t rule_count) {
  nn::NetworkConfig network = nn::preset(options.preset, static_cast<std::uint32_t>(node_kinds));
  network.head = options.head;
  if (options.width != 0) network.width = options.width;
  if (options.steps != 0) network.steps = options.steps;
  if (options.head_width != 0) network.head_width = options.head_width;
  network.action_mode = options.action_mode;
  if (network.head == nn::Head::hierarchical) network.rules = static_cast<std::uint32_t>(rule_count + 1);
  nn::check(network);
  return network;
}

}
