#include "core/cost/gelu_site.h"

#include <cmath>

namespace regraft::cost {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

bool near_to(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::abs(b);
}

// mul = of * 0.5
bool is_half_of(const Neighbourhood& near, NodeId mul, Value of) {
  if (!near.is(mul, OpKind::mul)) return false;
  const Neighbourhood::Scaled s = near.scaled(mul);
  return s.found && near_to(s.factor, 0.5) && s.value == of;
}

/// The Gelu around this Erf.
GeluSite gelu_at(const Neighbourhood& near, NodeId erf) {
  const GeluSite none{kNoNode, kNoNode, kNoNode, kNoNode, kNoNode};
  const NodeId scale = near.input(erf, 0).node;
  if (scale == kNoNode || near.only_user(scale) != erf) return none;
  const Neighbourhood::Scaled arg = near.scaled(scale);
  const bool divided =
      near.is(scale, OpKind::div) && near.input(scale, 0) == arg.value && near_to(arg.factor, std::sqrt(2.0));
  const bool multiplied = near.is(scale, OpKind::mul) && near_to(arg.factor, std::sqrt(0.5));
  if (!arg.found || (!divided && !multiplied)) return none;
  const Value x = arg.value;
  const NodeId plus_one = near.only_user(erf);
  if (!near.is(plus_one, OpKind::add)) return none;
  const Neighbourhood::Scaled one = near.scaled(plus_one);
  if (!one.found || !near_to(one.factor, 1)) return none;
  const NodeId product = near.only_user(plus_one);
  if (!near.is(product, OpKind::mul)) return none;
  const std::size_t erf_slot = near.input(product, 0).node == plus_one ? 0 : 1;
  const Value other = near.input(product, 1 - erf_slot);
  if (!other.present()) return none;
  if (other == x) {
    const NodeId outer = near.only_user(product);
    if (is_half_of(near, outer, Value{product, 0})) return {scale, erf, plus_one, product, outer};
    return none;
  }
  if (near.only_user(other.node) == product && is_half_of(near, other.node, x))
    return {scale, erf, plus_one, other.node, product};
  return none;
}

using Found = InlineVector<NodeId, 8>;

// Erf nodes at most `steps` sums and products above a node.
void erfs_above(const Neighbourhood& near, NodeId from, int steps, Found& found) {
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const NodeId above = near.input(from, slot).node;
    if (above == kNoNode) continue;
    const OpKind kind = near.kind(above);
    if (kind == OpKind::erf) found.push_back(above);
    if ((kind == OpKind::add || kind == OpKind::mul) && steps > 1) erfs_above(near, above, steps - 1, found);
  }
}

}  // namespace

bool GeluSite::has(NodeId node) const {
  return node == scale || node == erf || node == plus_one || node == inner || node == outer;
}

GeluSite gelu_around(const Neighbourhood& near, NodeId node) {
  Found erfs;
  erfs_above(near, node, 3, erfs);
  if (const NodeId user = near.only_user(node); user != kNoNode) {
    if (near.is(user, OpKind::erf)) erfs.push_back(user);
    if (near.is(user, OpKind::mul)) erfs_above(near, user, 2, erfs);
  }
  for (const NodeId erf : erfs)
    if (const GeluSite site = gelu_at(near, erf); site.found() && site.has(node)) return site;
  return {kNoNode, kNoNode, kNoNode, kNoNode, kNoNode};
}

}  // namespace regraft::cost
