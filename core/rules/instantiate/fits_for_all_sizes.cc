#include "core/rules/instantiate/fits_for_all_sizes.h"

#include <algorithm>

#include "core/graph/derived_dims.h"

namespace regraft::rules {
namespace {

using graph::Dim;
using graph::OpKind;
using Dims = std::span<const Dim>;

// Sizes that are numbers have been compared.
bool same(Dim a, Dim b) {
  return a == b || (!graph::is_symbol(a) && !graph::is_symbol(b));
}

bool same_or_repeated(Dim a, Dim b) {
  return same(a, b) || a == 1 || b == 1;
}

// Aligned from the last dim.
bool broadcasts(Dims a, Dims b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    if (!same_or_repeated(a[a.size() - i], b[b.size() - i])) return false;
  }
  return true;
}

bool product_fits(Dims a, Dims b) {
  if (a.empty() || b.empty()) return false;
  const Dim inner = b[b.size() == 1 ? 0 : b.size() - 2];
  const auto outer = [](Dims d) { return d.first(d.size() - std::min<std::size_t>(2, d.size())); };
  return same(a.back(), inner) && broadcasts(outer(a), outer(b));
}

bool joins(Dims a, Dims b, std::size_t axis) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (i != axis && !same(a[i], b[i])) return false;
  }
  return true;
}

// Queries, keys and values of one batch, cut into heads, and what is added to the scores [batch, heads,
// queries, keys], which is repeated along the first two alone.
bool attention_fits(std::span<const Dims> in) {
  constexpr std::size_t kAdded = 5;
  if (in.size() < 3) return false;
  const Dims q = in[0], k = in[1], v = in[2];
  if (q.size() != 3 || k.size() != 3 || v.size() != 3) return false;
  const bool headed = !graph::is_symbol(q[2]) && !graph::is_symbol(v[2]);
  if (!headed || !same(q[0], k[0]) || !same(q[0], v[0]) || !same(k[1], v[1]) || !same(q[2], k[2]))
    return false;
  if (in.size() <= kAdded || in[kAdded].empty()) return true;
  const Dims added = in[kAdded];
  return added.size() == 4 && (added[0] == 1 || same(added[0], q[0])) && !graph::is_symbol(added[1]) &&
         same(added[2], q[1]) && same(added[3], k[1]);
}

}  // namespace

bool fits_for_all_sizes(const graph::Tables& tables, OpKind kind, const graph::AttrBlock& attrs,
                        std::span<const graph::TypeId> operands) {
  InlineVector<Dims, 6> dims;
  for (const graph::TypeId id : operands) {
    const graph::TensorType& type = tables.type(id);
    dims.push_back(type.ranked ? Dims(type.dims.data(), type.dims.size()) : Dims());
  }
  for (std::size_t i = 1; i < dims.size(); ++i) {
    if (kind == OpKind::concat &&
        !joins(dims[0], dims[i], static_cast<std::size_t>(attrs.integer(graph::Attr::axis))))
      return false;
    for (std::size_t j = 0; j < i; ++j)
      if (graph::op_info(kind).is(graph::kElementwise) && kind != OpKind::clip &&
          !broadcasts(dims[j], dims[i]))
        return false;
  }
  if (kind == OpKind::matmul) return product_fits(dims[0], dims[1]);
  if (kind == OpKind::multi_head_attention) return attention_fits({dims.data(), dims.size()});
  if (kind == OpKind::gemm) {
    const bool ta = attrs.integer(graph::Attr::trans_a) != 0, tb = attrs.integer(graph::Attr::trans_b) != 0;
    return same(dims[0][ta ? 0 : 1], dims[1][tb ? 1 : 0]);
  }
  return true;
}

bool moves_nothing(graph::Tables& tables, OpKind kind, const graph::AttrBlock& attrs,
                   std::span<const graph::Operand> operands) {
  const bool moves = kind == OpKind::transpose ? attrs.has(graph::Attr::perm)
                                               : kind == OpKind::reshape && attrs.has(graph::Attr::shape);
  return moves && graph::infer_types(tables, kind, attrs, operands)[0] == operands[0].type &&
         (kind == OpKind::reshape || std::ranges::is_sorted(attrs.ints(graph::Attr::perm)));
}

std::optional<graph::AttrValue> shape_for_all_sizes(const graph::TensorType& from, const Quantity& shape) {
  if (shape.kind != Quantity::Kind::list || !from.ranked) return std::nullopt;
  graph::Dims wanted;
  for (const std::int64_t dim : shape.list) wanted.push_back(decode_dim(dim));
  return graph::reshape_target(from.dims, wanted);
}

}
