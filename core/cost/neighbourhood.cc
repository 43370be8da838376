#include "core/cost/neighbourhood.h"

#include <algorithm>

#include "core/graph/constants.h"

namespace regraft::cost {

using graph::NodeId;
using graph::OpKind;
using graph::Value;

bool Neighbourhood::add_users(NodeId node, Users& users) const {
  if (graph_.node(node).outputs.size() != 1) return false;
  for (const graph::Use& use : graph_.uses(node)) {
    if (use.user == graph::kGraphOutput) return false;
    if (kind(use.user) == OpKind::identity) {
      if (!add_users(use.user, users)) return false;
    } else if (std::find(users.begin(), users.end(), use.user) == users.end()) {
      if (users.size() == kMostUsers) return false;
      users.push_back(use.user);
    }
  }
  return true;
}

Neighbourhood::Users Neighbourhood::users(NodeId node) const {
  Users found;
  if (!add_users(node, found)) found.clear();
  return found;
}

bool Neighbourhood::has_many_users(NodeId node) const {
  const auto uses = graph_.uses(node);
  if (uses.size() <= kMostUsers) return false;
  Users users;
  for (const graph::Use& use : uses) {
    const bool counts = use.user != graph::kGraphOutput && kind(use.user) != OpKind::identity;
    if (!counts || std::find(users.begin(), users.end(), use.user) != users.end()) continue;
    if (users.size() == kMostUsers) return true;
    users.push_back(use.user);
  }
  return false;
}

std::optional<double> Neighbourhood::number(Value value) const {
  if (!value.present() || kind(value.node) != OpKind::weight) return std::nullopt;
  return graph::scalar_value(graph_.tables(), graph_.weight_of(value), 1);
}

Neighbourhood::Scaled Neighbourhood::scaled(NodeId node) const {
  if (graph_.node(node).inputs.size() != 2) return {};
  for (const std::size_t slot : {1, 0}) {
    const Value constant = input(node, slot);
    if (const auto factor = number(constant)) return {*factor, input(node, 1 - slot), true};
  }
  return {};
}

}
