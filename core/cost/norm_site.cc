#include "core/cost/norm_site.h"

#include <algorithm>

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

/// The mean over the last dim, which stays as 1.
bool is_row_mean(const Neighbourhood& near, NodeId node) {
  if (!near.is(node, OpKind::reduce_mean)) return false;
  const graph::AttrBlock& attrs = near.attrs(node);
  const auto rank = static_cast<std::int64_t>(near.type(near.input(node, 0)).rank());
  return attrs.has(Attr::axes) && attrs.ints(Attr::axes) == graph::Ints{rank - 1} &&
         near.type({node, 0}).rank() == static_cast<std::size_t>(rank);
}

/// Product with, or sum of, a constant of rank 1 and `of`.
bool is_affine(const Neighbourhood& near, NodeId node, OpKind kind, NodeId of) {
  if (!near.is(node, kind)) return false;
  const Value a = near.input(node, 0), b = near.input(node, 1);
  const Value constant = a.node == of ? b : a;
  return (a.node == of || b.node == of) && near.is(constant.node, OpKind::weight) &&
         near.type(constant).rank() == 1;
}

bool is_row_difference(const Neighbourhood& near, NodeId node, Value x, NodeId mean) {
  return near.is(node, OpKind::sub) && near.input(node, 0) == x && near.input(node, 1).node == mean;
}

/// The norm around this root.
NormSite norm_at(const Neighbourhood& near, NodeId sqrt) {
  NormSite site;
  const NodeId eps = near.input(sqrt, 0).node;
  if (!near.is(eps, OpKind::add) || near.only_user(eps) != sqrt) return {};
  const Neighbourhood::Scaled sum = near.scaled(eps);
  if (!sum.found) return {};
  const NodeId mean_square = sum.value.node;
  if (!is_row_mean(near, mean_square) || near.only_user(mean_square) != eps) return {};
  const NodeId square = near.input(mean_square, 0).node;
  if (!near.is(square, OpKind::pow) || near.only_user(square) != mean_square) return {};
  const Neighbourhood::Scaled power = near.scaled(square);
  if (!power.found || power.factor != 2 || near.input(square, 0) != power.value) return {};
  for (const NodeId node : {square, mean_square, eps, sqrt}) site.nodes.push_back(node);

  // From the root on: x / root, or x * (1 / root).
  NodeId scaled = near.only_user(sqrt);
  if (!near.is(scaled, OpKind::div) || near.input(scaled, 1).node != sqrt) return {};
  Value numerator = near.input(scaled, 0);
  const Neighbourhood::Scaled one = near.scaled(scaled);
  const bool inverse = one.found && one.value.node == sqrt;
  if (inverse) {
    site.nodes.push_back(scaled);
    const NodeId product = near.only_user(scaled);
    if (one.factor != 1 || !near.is(product, OpKind::mul)) return {};
    numerator = near.input(product, near.input(product, 0).node == scaled ? 1 : 0);
    scaled = product;
  }
  const NodeId scale = near.only_user(scaled);
  if (!is_affine(near, scale, OpKind::mul, scaled)) return {};
  site.nodes.push_back(scaled);
  site.nodes.push_back(scale);
  site.sqrt = sqrt;
  site.eps = eps;

  // A difference from the mean in both places, and a bias: the whole norm.
  const Value squared = power.value;
  const NodeId mean = near.is(squared.node, OpKind::sub) ? near.input(squared.node, 1).node : kNoNode;
  const NodeId bias = near.only_user(scale);
  if (!inverse && mean != kNoNode && is_row_mean(near, mean) && is_affine(near, bias, OpKind::add, scale)) {
    const Value x = near.input(mean, 0);
    const bool twice = numerator != squared;
    const auto users_are = [&](NodeId node, std::size_t count, auto... wanted) {
      const auto users = near.users(node);
      return users.size() == count && ((std::find(users.begin(), users.end(), wanted) != users.end()) && ...);
    };
    const bool differences =
        is_row_difference(near, squared.node, x, mean) && is_row_difference(near, numerator.node, x, mean) &&
        (twice ? users_are(squared.node, 1, square) && users_are(numerator.node, 1, scaled) &&
                     users_are(mean, 2, squared.node, numerator.node)
               : users_are(squared.node, 2, square, scaled) && users_are(mean, 1, squared.node));
    if (differences) {
      for (const NodeId node : {mean, squared.node, bias}) site.nodes.push_back(node);
      if (twice) site.nodes.push_back(numerator.node);
      site.input = x;
      return site;
    }
  }
  if (numerator != squared) return {};
  site.input = squared;
  site.simplified = true;
  return site;
}

/// The root that a node leads to, or comes from, in a norm; kNoNode where there is none.
NodeId root_near(const Neighbourhood& near, NodeId node) {
  const auto below = [&](NodeId from) -> NodeId {  // along the square, the mean and the addition
    for (int steps = 0; steps < 3 && from != kNoNode && !near.is(from, OpKind::sqrt); ++steps)
      from = near.only_user(from);
    return near.is(from, OpKind::sqrt) ? from : kNoNode;
  };
  const auto square_of = [&](NodeId difference) -> NodeId {
    for (const NodeId user : near.users(difference)) {
      if (near.is(user, OpKind::pow)) return below(user);
      if (near.is(user, OpKind::div)) {  // of a difference computed twice
        const NodeId root = near.input(user, 1).node;
        if (near.is(root, OpKind::sqrt)) return root;
      }
    }
    return kNoNode;
  };
  switch (near.kind(node)) {
    case OpKind::sqrt:
      return node;
    case OpKind::pow:
      return below(node);
    case OpKind::sub:
      return square_of(node);
    case OpKind::reduce_mean: {
      if (const NodeId root = below(node); root != kNoNode) return root;
      for (const NodeId user : near.users(node))
        if (near.is(user, OpKind::sub))
          if (const NodeId root = square_of(user); root != kNoNode) return root;
      return kNoNode;
    }
    case OpKind::div:
      return near.is(near.input(node, 1).node, OpKind::sqrt) ? near.input(node, 1).node : kNoNode;
    case OpKind::add:
      if (const NodeId user = near.only_user(node); near.is(user, OpKind::sqrt)) return user;
      [[fallthrough]];
    case OpKind::mul: {  // up to the quotient: at most a bias, a scale and a product
      NodeId at = node;
      for (int steps = 0; steps < 3; ++steps) {
        NodeId above = kNoNode;
        for (std::size_t slot = 0; slot < 2; ++slot) {
          const NodeId from = near.input(at, slot).node;
          if (near.is(from, OpKind::div)) {
            if (near.is(near.input(from, 1).node, OpKind::sqrt)) return near.input(from, 1).node;
          } else if (near.is(from, OpKind::mul)) {
            above = from;
          }
        }
        if (above == kNoNode) return kNoNode;
        at = above;
      }
      return kNoNode;
    }
    default:
      return kNoNode;
  }
}

}  // namespace

bool NormSite::has(NodeId node) const {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

NormSite norm_around(const Neighbourhood& near, NodeId node) {
  const NodeId root = root_near(near, node);
  if (root == kNoNode) return {};
  NormSite site = norm_at(near, root);
  return site.found() && site.has(node) ? site : NormSite{};
}

}  // namespace regraft::cost
