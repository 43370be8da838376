#include "core/cost/split_parts.h"

#include <algorithm>

#include "core/graph/constants.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

/// What a node takes of its first input: elements [begin, end) along one axis.
struct Part {
  std::int64_t axis = -1, begin = 0, end = 0;
};

Part sliced(const Graph& graph, NodeId node) {
  const graph::AttrBlock& attrs = graph.attrs(node);
  if (!attrs.has(Attr::starts) || !attrs.has(Attr::axes) || attrs.ints(Attr::starts).size() != 1) return {};
  if (attrs.has(Attr::steps) && attrs.ints(Attr::steps)[0] != 1) return {};
  return {attrs.ints(Attr::axes)[0], attrs.ints(Attr::starts)[0], attrs.ints(Attr::ends)[0]};
}

Part gathered(const Graph& graph, NodeId node) {
  const graph::WeightId indices = graph.weight_of(graph.node(node).inputs[1]);
  if (indices == graph::WeightId::none) return {};
  const auto values = graph::integer_values(graph.tables(), indices, 1);
  if (!values || values->size() != 1) return {};
  return {graph.attrs(node).integer(Attr::axis), (*values)[0], (*values)[0] + 1};
}

}  // namespace

SplitParts split_around(const Graph& graph, NodeId node) {
  const Value whole = graph.node(node).inputs[0];
  const OpKind source = graph.node(whole.node).kind;
  if (source == OpKind::input || source == OpKind::weight)
    return {};  // whose users see nothing of each other
  const graph::TensorType& type = graph.type(whole);
  InlineVector<Part, SplitParts::kMostParts> parts;
  SplitParts split;
  for (const graph::Use& use : graph.uses(whole.node)) {
    if (use.user == graph::kGraphOutput || graph.node(use.user).inputs[use.slot] != whole) continue;
    const OpKind kind = graph.node(use.user).kind;
    if (kind != OpKind::slice && kind != OpKind::gather) continue;
    if (use.slot != 0) return {};
    Part part = kind == OpKind::slice ? sliced(graph, use.user) : gathered(graph, use.user);
    if (part.axis < 0 || static_cast<std::size_t>(part.axis) >= type.rank()) return {};
    const graph::Dim size = type.dims[static_cast<std::size_t>(part.axis)];
    if (size < 1 || parts.size() == SplitParts::kMostParts) return {};
    for (std::int64_t* end : {&part.begin, &part.end}) {
      if (*end < 0) *end += size;
      *end = std::clamp<std::int64_t>(*end, 0, size);
    }
    parts.push_back(part);
    split.parts.push_back(use.user);
  }
  if (parts.size() < 2) return {};
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  std::int64_t covered = 0;
  for (const Part& part : parts) {
    if (part.axis != parts[0].axis || part.begin != covered || part.end <= part.begin) return {};
    covered = part.end;
  }
  if (covered != type.dims[static_cast<std::size_t>(parts[0].axis)]) return {};
  std::sort(split.parts.begin(), split.parts.end());
  return split;
}

}
