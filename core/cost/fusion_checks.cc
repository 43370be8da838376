#include "core/cost/fusion_checks.h"

#include <algorithm>

namespace regraft::cost {

using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::TensorType;
using graph::Value;

bool is_channelwise(const TensorType& type) {
  const std::size_t rank = type.rank();
  if (rank != 3 && rank != 4) return false;
  return type.dims[rank - 1] == 1 && type.dims[rank - 2] == 1 && (rank == 3 || type.dims[0] == 1);
}

bool fits_matmul(const graph::Ints& perm) {
  const auto n = static_cast<std::int64_t>(perm.size());
  if (n < 2) return false;
  const auto at = [&](std::int64_t i) { return perm[static_cast<std::size_t>(i)]; };
  bool swap = at(n - 1) == n - 2 && at(n - 2) == n - 1, rotate = n > 2;
  for (std::int64_t i = 0; i < n - 2; ++i) {
    swap = swap && at(i) == i;
    rotate = rotate && at(i) == i + 1;
  }
  const bool kept = at(n - 2) == 0 && at(n - 1) == n - 1, swapped = at(n - 2) == n - 1 && at(n - 1) == 0;
  return swap || (rotate && (kept || swapped));
}

bool takes_bias(const graph::Graph& graph, const Neighbourhood& near, NodeId matmul, Value bias) {
  const TensorType &left = graph.type(near.input(matmul, 0)), &right = graph.type(near.input(matmul, 1)),
                   &added = graph.type(bias);
  if (right.rank() != 2 || left.rank() < 1) return false;
  const graph::Dim columns = right.dims[1];
  if (added.rank() == 1 && added.dims[0] == columns)
    return left.rank() == 2 || (left.is_static() && right.is_static());
  if (left.rank() != 2 || added.rank() != 2) return false;
  const bool row = added.dims[0] == 1 && added.dims[1] == columns;
  return row || (added.dims[0] == left.dims[0] && (added.dims[1] == 1 || added.dims[1] == columns));
}

NodeId whole_behind(const Neighbourhood& near, const FusedMatches& matches, NodeId node, OpKind op) {
  if (const NodeId user = near.only_user(node); user != kNoNode)
    return near.kind(user) == op && near.input(user, 0).node == node ? user : kNoNode;
  const auto users = near.users(node);
  if (users.empty()) return kNoNode;
  const FusedMatch* match = matches.around(users[0]);
  if (!match || near.source(match->over) != Value{node, 0}) return kNoNode;
  const FusedPatterns::Kernel& kernel = matches.kernel(*match);
  const bool reads_it_alone =
      kernel.kind.op == op && (op != OpKind::layer_norm || kernel.takes_addition) &&
      std::all_of(users.begin(), users.end(), [&](NodeId user) { return match->has(user); });
  return reads_it_alone ? match->root() : kNoNode;
}

}
