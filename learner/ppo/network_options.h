#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/bound_options.h"
#include "core/nn/model/config.h"

namespace regraft::learner {

/// The policy network: a preset, and what is to differ from it.
struct NetworkOptions {
  std::string preset = "cpu";
  nn::Head head = nn::Head::pointer;
  std::uint32_t width = 0, steps = 0, head_width = 0;       // 0: the preset's
  env::ActionMode action_mode = env::ActionMode::one_site;  // of the workload, which the network has to fit
};

/// For this op table and, where the head is hierarchical, this many rules.
nn::NetworkConfig network_config(const NetworkOptions& options, std::size_t node_kinds,
                                 std::size_t rule_count);

/// The options `network.*`.
const BoundOptions<NetworkOptions>& network_options();

}
