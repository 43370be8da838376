#include "core/cost/gelu_site.h"

#include <algorithm>
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

constexpr double kCubeFactor = 0.044715, kOuterFactor = 0.7978845834732056;

/// node = of * factor, whichever way round.
bool is_multiple(const Neighbourhood& near, NodeId node, double factor) {
  if (!near.is(node, OpKind::mul)) return false;
  const Neighbourhood::Scaled s = near.scaled(node);
  return s.found && near_to(s.factor, factor);
}

NodeId other_input(const Neighbourhood& near, NodeId node, NodeId known) {
  return near.input(node, near.input(node, 0).node == known ? 1 : 0).node;
}

/// The nodes of z, of which nothing else reads any but x; x itself in `x`.
bool z_by_power(const Neighbourhood& near, NodeId z, FastGeluSite& site, Value& x) {
  if (!is_multiple(near, z, kOuterFactor)) return false;
  const NodeId sum = near.scaled(z).value.node;
  if (!near.is(sum, OpKind::add) || near.only_user(sum) != z) return false;
  for (const std::size_t slot : {0, 1}) {
    const NodeId scaled = near.input(sum, slot).node;
    x = near.input(sum, 1 - slot);
    if (scaled == kNoNode || near.only_user(scaled) != sum || !is_multiple(near, scaled, kCubeFactor))
      continue;
    const NodeId cube = near.scaled(scaled).value.node;
    if (!near.is(cube, OpKind::pow) || near.only_user(cube) != scaled || near.input(cube, 0) != x) continue;
    const Neighbourhood::Scaled power = near.scaled(cube);
    if (!power.found || !near_to(power.factor, 3)) continue;
    for (const NodeId node : {z, sum, scaled, cube}) site.nodes.push_back(node);
    return true;
  }
  return false;
}

bool z_by_products(const Neighbourhood& near, NodeId z, FastGeluSite& site, Value& x) {
  if (!near.is(z, OpKind::mul)) return false;
  for (const std::size_t slot : {0, 1}) {
    const NodeId outer = near.input(z, slot).node, sum = near.input(z, 1 - slot).node;
    if (!near.is(sum, OpKind::add) || near.only_user(sum) != z) continue;
    if (outer == kNoNode || near.only_user(outer) != z || !is_multiple(near, outer, kOuterFactor)) continue;
    const Neighbourhood::Scaled one = near.scaled(sum);
    x = near.scaled(outer).value;
    if (!one.found || !near_to(one.factor, 1)) continue;
    const NodeId square = one.value.node;
    if (!near.is(square, OpKind::mul) || near.only_user(square) != sum) continue;
    const NodeId scaled =
        near.input(square, 0) == x ? near.input(square, 1).node : near.input(square, 0).node;
    const bool whole = scaled != kNoNode && near.only_user(scaled) == square &&
                       is_multiple(near, scaled, kCubeFactor) && near.scaled(scaled).value == x &&
                       near.input(square, near.input(square, 0) == x ? 0 : 1) == x;
    if (!whole) continue;
    for (const NodeId node : {z, outer, sum, square, scaled}) site.nodes.push_back(node);
    return true;
  }
  return false;
}

/// The Gelu around this Tanh.
FastGeluSite fast_gelu_at(const Neighbourhood& near, NodeId tanh) {
  FastGeluSite site;
  Value x;
  const NodeId z = near.input(tanh, 0).node;
  if (z == kNoNode || near.only_user(z) != tanh) return {};
  if (!z_by_power(near, z, site, x) && !z_by_products(near, z, site, x)) return {};
  const NodeId plus_one = near.only_user(tanh);
  if (!near.is(plus_one, OpKind::add)) return {};
  const Neighbourhood::Scaled one = near.scaled(plus_one);
  if (!one.found || !near_to(one.factor, 1)) return {};
  const NodeId product = near.only_user(plus_one);
  if (!near.is(product, OpKind::mul) || near.users(product).empty()) return {};  // not one that is given out
  const NodeId half = other_input(near, product, plus_one);
  if (half == kNoNode || !is_half_of(near, half, x)) return {};
  for (const NodeId node : {tanh, plus_one, product, half}) site.nodes.push_back(node);
  site.tanh = tanh;
  site.plus_one = plus_one;
  return site;
}

}  // namespace

bool FastGeluSite::has(NodeId node) const {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Every node of the site but the half of x, and the products of its end, has one user, which leads to the
/// Tanh.
FastGeluSite fast_gelu_around(const Neighbourhood& near, NodeId node) {
  const auto around = [&](NodeId tanh) {
    const FastGeluSite site = near.is(tanh, OpKind::tanh) ? fast_gelu_at(near, tanh) : FastGeluSite{};
    return site.has(node) ? site : FastGeluSite{};
  };
  constexpr int kMostSteps = 5;
  NodeId below = node;
  for (int step = 0; step < kMostSteps && below != kNoNode && !near.is(below, OpKind::tanh); ++step)
    below = near.only_user(below);
  if (below != kNoNode)
    if (const FastGeluSite site = around(below); site.found()) return site;
  // plus_one reads the Tanh; the product reads plus_one; the half is read by the product.
  NodeId product = node;
  if (near.is(node, OpKind::mul) && near.scaled(node).found) product = near.only_user(node);
  if (product == kNoNode) return {};
  for (const std::size_t slot : {0, 1}) {
    const NodeId above = near.input(product, slot).node;
    if (above == kNoNode) continue;
    if (const FastGeluSite site = around(above); site.found()) return site;
    if (!near.is(above, OpKind::add)) continue;
    for (const std::size_t inner : {0, 1})
      if (const NodeId tanh = near.input(above, inner).node; tanh != kNoNode)
        if (const FastGeluSite site = around(tanh); site.found()) return site;
  }
  return {};
}

bool GeluSite::has(NodeId node) const {
  return node == scale || node == erf || node == plus_one || node == inner || node == outer;
}

GeluSite gelu_around(const Neighbourhood& near, NodeId node) {
  Found erfs;
  if (near.is(node, OpKind::erf)) erfs.push_back(node);
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
