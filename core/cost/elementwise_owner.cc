#include "core/cost/elementwise_owner.h"

#include <algorithm>

#include "core/graph/op.h"

namespace regraft::cost {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;

bool is_elementwise(OpKind kind) {
  return kind == OpKind::batch_norm ||
         (kind != OpKind::identity && graph::op_info(kind).is(graph::kElementwise));
}

bool is_product(OpKind kind) {
  return kind == OpKind::conv || kind == OpKind::conv_transpose || kind == OpKind::matmul ||
         kind == OpKind::gemm;
}

/// Links between a node and the last whose maker is asked whether it is a product: with Gelus between, that
/// is 6 edges away, which is within kFusionRadius.
constexpr int kMostLinks = 2;

class Links {
 public:
  Links(const Neighbourhood& near, const FusedMatches& matches,
        const std::function<bool(graph::Value)>& is_constant)
      : near_(near), matches_(matches), is_constant_(is_constant) {}

  struct Link {
    NodeId maker = kNoNode;
    bool by_product = false;  // whose kernel is one
  };
  Link of(NodeId node, int links) const {
    if (const FusedMatch* match = matches_.around(node)) return of_match(*match, links);
    if (!is_elementwise(near_.kind(node))) return {};
    for (std::size_t slot = 0; slot < near_.input_count(node); ++slot) {
      const graph::Value made = near_.input(node, slot);
      if (!takes_elementwise(made.node) || near_.only_user(made.node) != node || is_constant_(made)) continue;
      if (near_.type(made).dims != near_.type({node, 0}).dims) continue;
      const Link link = to(made.node, links);
      if (!link.by_product || is_beside_constants(node, slot)) return link;
    }
    return {};
  }

 private:
  Link to(NodeId maker, int links) const {
    return {maker, is_product(near_.kind(maker)) || (links > 0 && of(maker, links - 1).by_product)};
  }

  Link of_match(const FusedMatch& match, int links) const {
    const NodeId maker = near_.source(match.over).node;
    if (matches_.kernel(match).kind.op != OpKind::gelu || !takes_elementwise(maker)) return {};
    const auto users = near_.users(maker);
    const bool alone =
        !users.empty() && std::ranges::all_of(users, [&](NodeId user) { return match.has(user); });
    return alone ? to(maker, links) : Link{};
  }

  bool takes_elementwise(NodeId maker) const {
    if (maker == kNoNode) return false;
    if (const FusedMatch* match = matches_.around(maker))
      return matches_.kernel(*match).kind.op == OpKind::gelu;
    return is_product(near_.kind(maker)) || is_elementwise(near_.kind(maker));
  }

  bool is_beside_constants(NodeId node, std::size_t slot) const {
    for (std::size_t other = 0; other < near_.input_count(node); ++other) {
      const graph::Value value = near_.input(node, other);
      if (other != slot && value.present() && !is_constant_(value)) return false;
    }
    return true;
  }

  const Neighbourhood& near_;
  const FusedMatches& matches_;
  const std::function<bool(graph::Value)>& is_constant_;
};

}  // namespace

NodeId elementwise_owner(const Neighbourhood& near, const FusedMatches& matches,
                         const std::function<bool(graph::Value)>& is_constant, NodeId node) {
  return Links(near, matches, is_constant).of(node, kMostLinks).maker;
}

}
