#pragma once

#include <array>
#include <vector>

#include "core/base/rng.h"
#include "core/cost/net.h"
#include "core/graph/order.h"
#include "support/dead_nodes.h"

namespace regraft::cost::testing {

/// Grows a net of images [1, 16, 6, 6] and matrices [8, 16] from what the cost model looks at: convolutions,
/// norms, activations, sums, concatenations, matmuls, pieces of Gelu, layer norms, identities, shape
/// arithmetic.
class RandomNet {
 public:
  RandomNet(Net& net, Rng& rng) : net_(net), rng_(rng) {
    for (int i = 0; i < 2; ++i) {
      images_.push_back(net.input({1, 16, 6, 6}));
      matrices_.push_back(net.input({1, 8, 16}));
    }
  }

  void grow(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i)
      rng_.below(2) == 0 ? images_.push_back(image()) : matrices_.push_back(matrix());
    for (int i = 0; i < 3; ++i) net_.output(pick(images_)).output(pick(matrices_));
    remove_all_dead(net_.graph);
    net_.graph.commit();
  }

 private:
  // Mostly late values, so that chains form; now and then one that many read.
  Value pick(const std::vector<Value>& values) {
    if (rng_.below(8) == 0) return values[std::min<std::size_t>(values.size() - 1, 2)];
    const std::size_t recent = std::min<std::size_t>(values.size(), rng_.below(4) == 0 ? values.size() : 3);
    return values[values.size() - 1 - rng_.below(recent)];
  }

  Value image() {
    const Value x = pick(images_);
    switch (rng_.below(15)) {
      case 13:
        return net_.conv(
            net_.op(OpKind::pad, {x}, {{Attr::pads, Ints(8, 0)}, {Attr::mode, std::string("constant")}}), 16,
            3);
      case 12: {
        const Value last = net_.op(OpKind::transpose, {x}, {{Attr::perm, Ints{0, 2, 3, 1}}});
        return net_.op(OpKind::transpose, {rng_.below(2) == 0 ? last : net_.layer_norm(last)},
                       {{Attr::perm, Ints{0, 3, 1, 2}}});
      }
      case 0:
        return net_.conv(x, 16, 3);
      case 1:
        return net_.conv(x, 16, 3, 4);
      case 2:
        return net_.conv(x, 16, 1);
      case 3:
        return net_.batch_norm(x);
      case 4:
        return net_.op(OpKind::relu, {x});
      case 5:
        return net_.op(OpKind::add, {x, pick(images_)});
      case 6:
        return net_.op(OpKind::sum, {x, pick(images_)});
      case 7:
        return net_.op(OpKind::identity, {x});
      case 8:
        return net_.op(OpKind::add, {x, net_.weight({16, 1, 1})});
      case 9:
        return net_.op(OpKind::mul, {x, rng_.below(2) == 0 ? net_.weight({16, 1, 1}) : net_.scalar(2)});
      case 10:
        return net_.op(OpKind::mul, {x, net_.op(OpKind::sigmoid, {x})});
      case 11:
        return net_.gelu(x, rng_.below(2) == 0 ? Net::GeluForm::outer_half : Net::GeluForm::inner_half);
      default: {
        const Value both = net_.op(OpKind::concat, {x, pick(images_)}, {{Attr::axis, std::int64_t{1}}});
        return net_.conv(both, 16, 1);
      }
    }
  }

  Value matrix() {
    const Value x = pick(matrices_);
    switch (rng_.below(22)) {
      case 21:
        return net_.op(OpKind::add, {x, net_.weight({16})});
      case 20: {
        const NodeId bytes = net_.quantise(x);
        const Value made = net_.integer_product(bytes, rng_.below(2) == 0);
        return rng_.below(2) == 0 ? made : net_.op(OpKind::add, {made, net_.integer_product(bytes, true)});
      }
      case 17:
        return net_.gelu_by_tanh_of_products(x);
      case 18:
        return net_.norm_of_two_differences(x);
      case 19:
        return net_.norm_by_one_over(x, rng_.below(2) == 0);
      case 14:
        return net_.gelu_by_tanh(x);
      case 15: {
        const auto part = [&](std::int64_t from, std::int64_t to) {
          return net_.op(OpKind::slice, {x},
                         {{Attr::starts, Ints{from}}, {Attr::ends, Ints{to}}, {Attr::axes, Ints{2}}});
        };
        return net_.op(OpKind::concat, {part(8, 16), part(0, 8)}, {{Attr::axis, std::int64_t{2}}});
      }
      case 16:
        return net_.op(OpKind::add, {net_.op(OpKind::matmul, {x, net_.weight({16, 16})}),
                                     net_.op(OpKind::matmul, {pick(matrices_), net_.weight({16, 16})})});
      case 0:
        return net_.linear(x, 16);
      case 1:
        return net_.op(OpKind::matmul, {x, net_.weight({16, 16})});
      case 2:
        return net_.op(OpKind::add, {x, pick(matrices_)});
      case 3:
        return net_.op(OpKind::tanh, {x});
      case 4:
        return net_.op(OpKind::identity, {x});
      case 5:
        return net_.gelu(x, Net::GeluForm::outer_half);
      case 6:
        return net_.gelu(x, Net::GeluForm::inner_half);
      case 7:
        return net_.layer_norm(x);
      case 8:
        return net_.op(OpKind::mul, {x, net_.scalar(0.5)});
      case 9:
        return net_.op(OpKind::erf, {net_.op(OpKind::div, {x, net_.scalar(1.41421354)})});
      case 10:
        return net_.norm_in_parts(x, false);
      case 11:
        return net_.norm_in_parts(x, true);
      case 12:
        return net_.op(OpKind::cast, {net_.op(OpKind::shape, {x})}, {{Attr::to, std::int64_t{1}}}), x;
      default:
        return net_.op(OpKind::add, {net_.op(OpKind::erf, {x}), net_.scalar(1)});
    }
  }

  Net& net_;
  Rng& rng_;
  std::vector<Value> images_, matrices_;
};

/// One random edit that keeps types and leaves no cycle: a node before some uses of a value, a value replaced
/// by another, a node taken out, or dead nodes removed.
inline void random_edit(Net& net, Rng& rng) {
  graph::Graph& graph = net.graph;
  std::vector<NodeId> live;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id) && graph.node(id).kind != OpKind::weight) live.push_back(id);
  const NodeId node = live[rng.below(live.size())];
  const Value value{node, 0};
  const auto redirect = [&](Value to, NodeId except) {
    const std::vector<graph::Use> uses(graph.uses(node).begin(), graph.uses(node).end());
    for (const graph::Use use : uses) {
      if (use.user == except || rng.below(3) == 0) continue;
      if (use.user == graph::kGraphOutput)
        graph.set_output(use.slot, to);
      else if (graph.node(use.user).inputs[use.slot] == value)
        graph.set_input(use.user, use.slot, to);
    }
  };
  switch (rng.below(4)) {
    case 0: {
      static constexpr std::array kinds{OpKind::relu, OpKind::identity, OpKind::tanh};
      const Value made = net.op(kinds[rng.below(kinds.size())], {value});
      redirect(made, made.node);
      break;
    }
    case 1: {
      const NodeId other = live[rng.below(live.size())];
      if (other == node || graph.type_id({other, 0}) != graph.type_id(value)) break;
      std::vector<NodeId> users;
      for (const graph::Use use : graph.uses(node))
        if (use.user != graph::kGraphOutput) users.push_back(use.user);
      if (!graph::reaches(graph, users, other)) redirect({other, 0}, graph::kNoNode);
      break;
    }
    case 2: {
      if (graph.node(node).inputs.empty()) break;
      const Value before = graph.node(node).inputs[0];
      if (before.present() && graph.type_id(before) == graph.type_id(value))
        graph.replace_uses(value, before);
      graph.remove_dead(std::array{node});
      break;
    }
    default:
      remove_all_dead(graph);
  }
}

}
