#include "core/onnx/node_order.h"

#include <queue>
#include <string>
#include <unordered_map>

#include "core/onnx/captures.h"

namespace regraft::onnx {

/// Kahn's algorithm, the lowest index first.
std::vector<std::size_t> node_order(std::span<const ::onnx::NodeProto* const> nodes) {
  std::unordered_map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i]->output())
      if (!output.empty()) maker.emplace(output, i);
  std::vector<std::vector<std::size_t>> users(nodes.size());
  std::vector<int> waits(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto wait_for = [&](const std::string& name) {
      const auto found = maker.find(name);
      if (name.empty() || found == maker.end()) return;
      users[found->second].push_back(i);
      ++waits[i];
    };
    for (const std::string& input : nodes[i]->input()) wait_for(input);
    for (const std::string& name : captured_names(*nodes[i])) wait_for(name);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const std::size_t user : users[i])
      if (--waits[user] == 0) ready.push(user);
  }
  return order;
}

}
