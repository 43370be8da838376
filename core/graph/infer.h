#pragma once

// Internal to core/graph: type inference, one function for each family of ops, and what they share.

#include "core/graph/derived_dims.h"
#include "core/graph/size_checks.h"

namespace regraft::graph {

using Operands = std::span<const Operand>;

const TensorType& operand_type(const Tables& tables, Operands operands, std::size_t i);
bool has_operand(Operands operands, std::size_t i);
/// What is known of an operand's elements; empty where nothing is.
std::span<const Element> elements_of(Operands operands, std::size_t i);
TypeList one_type(Tables& tables, DType dtype, std::span<const Dim> dims);
TypeList unranked(Tables& tables, DType dtype);
/// The dims that the shape at an operand says; where an element is not known, a size of its own that nothing
/// says; unranked where their number is not known either.
TypeList shaped_by_operand(Tables& tables, DType dtype, Operands operands, std::size_t slot);
/// Axis in [0, rank), or [0, rank] when `past_end` is set.
std::int64_t resolve_axis(const OpInfo& op, std::int64_t axis, std::size_t rank, bool past_end = false);

TypeList infer_same(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_cast(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_cast_like(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_broadcast(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_prelu(Tables&, const OpInfo&, const AttrBlock&, Operands);  // the slope broadcasts, x does not
TypeList infer_compare(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_where(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_matmul(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_einsum(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_recurrence(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_gemm(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_conv(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_conv_transpose(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_pool(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_global_pool(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_batch_norm(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_layer_norm(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_reduce(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_reshape(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_flatten(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_transpose(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_squeeze(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_unsqueeze(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_concat(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_split(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_slice(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_gather(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_gather_elements(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_expand(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_tile(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_pad(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_shape(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_attention(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_resize(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_constant_of_shape(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_quantize(Tables&, const OpInfo&, const AttrBlock&, Operands);
TypeList infer_dequantize(Tables&, const OpInfo&, const AttrBlock&, Operands);

void normalise_axis(Tables&, const OpInfo&, AttrBlock&, Operands);  // `axis`, within the rank of input 0
void normalise_axis_past_end(Tables&, const OpInfo&, AttrBlock&,
                             Operands);                               // `axis` may be the rank (Flatten)
void normalise_window(Tables&, const OpInfo&, AttrBlock&, Operands);  // conv and pooling
void normalise_reduce(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_reshape(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_transpose(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_squeeze(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_unsqueeze(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_split(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_slice(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_pad(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_attention(Tables&, const OpInfo&, AttrBlock&, Operands);
void normalise_quantised(Tables&, const OpInfo&, AttrBlock&, Operands);  // `axis` is 0 where it says nothing

}
