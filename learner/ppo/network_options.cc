#include "learner/ppo/network_options.h"

namespace regraft::learner {

std::vector<Option> network_options() {
  const NetworkOptions d;
  return {
      Option("network.preset", d.preset.c_str(), "size of the policy network")
          .one_of({"cpu", "gpu", "seeds"})
          .fixed_on_resume(),
      Option("network.head", std::string(nn::head_name(d.head)).c_str(),
             "one softmax over all rewrites, or first the rule and then its location")
          .one_of({"pointer", "hierarchical"})
          .fixed_on_resume(),
      Option("network.width", 0, "of every embedding, a multiple of 8; 0: the preset's")
          .between(0, 512)
          .fixed_on_resume(),
      Option("network.steps", 0, "of message passing; 0: the preset's").between(0, 16).fixed_on_resume(),
      Option("network.head_width", 0, "of a hierarchical head's hidden layers; 0: the preset's")
          .between(0, 512)
          .fixed_on_resume(),
  };
}

nn::NetworkConfig network_config(const NetworkOptions& options, std::size_t node_kinds,
                                 std::size_t rule_count) {
  nn::NetworkConfig network = nn::preset(options.preset, static_cast<std::uint32_t>(node_kinds));
  network.head = options.head;
  if (options.width != 0) network.width = options.width;
  if (options.steps != 0) network.steps = options.steps;
  if (options.head_width != 0) network.head_width = options.head_width;
  network.action_mode = options.action_mode;
  if (network.head == nn::Head::hierarchical) network.xfers = static_cast<std::uint32_t>(rule_count + 1);
  nn::check(network);
  return network;
}

NetworkOptions network_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint32_t>(config.integer(name)); };
  return {.preset = config.text("network.preset"),
          .head = nn::head_from_name(config.text("network.head")),
          .width = count("network.width"),
          .steps = count("network.steps"),
          .head_width = count("network.head_width")};
}

}  // namespace regraft::learner
