#include "core/cost/layout_state.h"

#include <algorithm>
#include <initializer_list>

namespace regraft::cost {

using graph::Attr;
using graph::Graph;
using graph::NodeId;
using graph::OpKind;

OpWithConstants op_with_constants(const graph::Graph& graph, const std::vector<LayoutState>& layouts,
                                  NodeId id) {
  const graph::Node& node = graph.node(id);
  OpWithConstants op{node.signature, 0};
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].present() && layouts[node.inputs[i].node].constant)
      op.constants |= 1u << std::min<std::size_t>(i, 31);
  return op;
}

NodeId padded_conv(const Graph& graph, NodeId pad) {
  const graph::AttrBlock& attrs = graph.attrs(pad);
  const auto uses = graph.uses(pad);  // not behind an Identity, whose edits touch no Pad
  if (uses.size() != 1 || uses[0].user == graph::kGraphOutput || uses[0].slot != 0 ||
      graph.node(uses[0].user).kind != OpKind::conv || !attrs.has(Attr::pads) ||
      attrs.text(Attr::mode) != "constant")
    return graph::kNoNode;
  const auto& pads = attrs.ints(Attr::pads);
  const std::size_t n = pads.size() / 2;
  const bool of_pixels = n > 2 && pads[0] == 0 && pads[1] == 0 && pads[n] == 0 && pads[n + 1] == 0;
  const bool zero = !attrs.has(Attr::value) || attrs.real(Attr::value) == 0;
  return of_pixels && zero ? uses[0].user : graph::kNoNode;
}

namespace {

bool moves(const Graph& graph, NodeId id, std::initializer_list<std::int64_t> perm) {
  return graph.node(id).kind == OpKind::transpose && graph.attrs(id).has(Attr::perm) &&
         std::ranges::equal(graph.attrs(id).ints(Attr::perm), perm);
}

}  // namespace

bool takes_blocked(const Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   const graph::Use& use) {
  if (use.user == graph::kGraphOutput) return false;
  if (!layouts[use.user].blocked) return leaves_blocked(graph, layouts, use.user);
  const OpWithConstants op = op_with_constants(graph, layouts, use.user);
  return !kernels.starts_blocked(op) || (use.slot == 0 && kernels.reads_blocked(op));
}

bool leaves_blocked(const Graph& graph, const std::vector<LayoutState>& layouts, NodeId id) {
  return moves(graph, id, {0, 2, 3, 1}) && layouts[graph.node(id).inputs[0].node].blocked;
}

bool enters_blocked(const Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                    NodeId id) {
  const auto uses = graph.uses(id);
  return uses.size() == 1 && moves(graph, id, {0, 3, 1, 2}) &&
         takes_blocked(graph, kernels, layouts, uses[0]);
}

}
