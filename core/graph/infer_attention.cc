#include <array>

#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

enum Slot : std::size_t { kQuery, kKey, kValue, kBias, kPaddingMask, kAddedToScores };

void require_fit(const Tables& tables, const OpInfo& op, Dim a, Dim b, const char* what) {
  if (a == b || is_symbol(a) || is_symbol(b)) return;
  fail(op, std::string(what) + " do not fit: " + dim_text(tables, a) + " and " + dim_text(tables, b));
}

void check_heads(const OpInfo& op, std::int64_t heads, Dim width) {
  if (!is_symbol(width) && width % heads != 0)
    fail(op, std::to_string(heads) + " heads do not divide " + std::to_string(width));
}

/// What is added to the scores [batch, heads, queries, keys]: its first two dims may be 1.
void check_added(const Tables& tables, const OpInfo& op, const TensorType& added,
                 const std::array<Dim, 4>& scores) {
  if (!added.ranked) return;
  if (added.rank() != scores.size()) fail(op, "what is added to the scores has not four dims");
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (i > 1 || added.dims[i] != 1) require_fit(tables, op, added.dims[i], scores[i], "scores and bias");
}

}  // namespace

TypeList infer_attention(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  for (std::size_t i = kQuery; i <= kValue; ++i)
    if (!has_operand(operands, i)) fail(op, "packed operands have no canonical form");
  if (has_operand(operands, kPaddingMask)) fail(op, "a mask of keys has no canonical form");
  const TensorType q = operand_type(tables, operands, kQuery), k = operand_type(tables, operands, kKey),
                   v = operand_type(tables, operands, kValue);
  if (q.dtype != k.dtype || q.dtype != v.dtype) fail(op, "mixes element types");
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) fail(op, "takes three tensors of three dims");
  for (const TensorType* other : {&k, &v}) require_fit(tables, op, q.dims[0], other->dims[0], "batches");
  require_fit(tables, op, k.dims[1], v.dims[1], "keys and values");
  require_fit(tables, op, q.dims[2], k.dims[2], "queries and keys");
  const std::int64_t heads = attrs.integer(Attr::num_heads);
  check_heads(op, heads, q.dims[2]);
  check_heads(op, heads, v.dims[2]);
  if (has_operand(operands, kBias)) {
    const TensorType& bias = operand_type(tables, operands, kBias);
    if (bias.ranked && bias.rank() != 1) fail(op, "the bias is no vector");
    if (bias.is_static() && !is_symbol(q.dims[2]) && !is_symbol(v.dims[2]) &&
        Wide{bias.dims[0]} != Wide{2} * q.dims[2] + v.dims[2])
      fail(op, "the bias does not fit queries, keys and values");
  }
  if (has_operand(operands, kAddedToScores))
    check_added(tables, op, operand_type(tables, operands, kAddedToScores),
                {q.dims[0], heads, q.dims[1], k.dims[1]});
  return one_type(tables, q.dtype, Dims{q.dims[0], q.dims[1], v.dims[2]});
}

void normalise_attention(Tables&, const OpInfo& op, AttrBlock& attrs, Operands) {
  if (attrs.integer(Attr::num_heads) <= 0) fail(op, "num_heads must be positive");
  if (attrs.real(Attr::scale) == 0) fail(op, "a scale of 0 cannot be written: it means the default");
}

}
