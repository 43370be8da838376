#pragma once

// Models by the thousand: a seed gives a small ONNX model that ONNX Runtime accepts.

#include <string>
#include <vector>

#include "core/exec/rewrite_fuzzing/motifs.h"

namespace regraft::exec::rewrite_fuzzing {

struct GeneratedModel {
  std::string bytes;
  std::int64_t opset = 0;
  DType real = DType::float32;
  bool dynamic = false;  // has the symbol N
};

using Addition = bool (*)(Sketch&);

inline const std::vector<Addition>& single_ops() {
  static const std::vector<Addition> ops{
      add_unary,
      add_unary,
      add_partial,
      add_step,
      add_clip,
      add_binary,
      add_binary,
      add_binary,
      add_variadic,
      add_prelu,
      add_choice,
      add_cast,
      add_transpose,
      add_transpose,
      add_reshape,
      add_reshape,
      add_computed_reshape,
      add_flatten,
      add_squeeze,
      add_concat,
      add_concat,
      add_split,
      add_slice,
      add_slice,
      add_gather,
      add_gather,
      add_embedding,
      add_expand_or_tile,
      add_pad,
      add_gather_elements,
      add_matmul,
      add_matmul,
      add_gemm,
      add_conv,
      add_conv,
      add_conv_transpose,
      add_pool,
      add_pool,
      add_norm,
      add_norm,
      add_softmax,
      add_reduce,
      add_reduce,
      add_if,
  };
  return ops;
}

inline const std::vector<Addition>& motifs() {
  static const std::vector<Addition> all{
      add_mlp,       add_norm_block, add_attention,    add_gates,
      add_branches,  add_conv_block, add_conv_block,   add_moves,
      add_parts,     add_selection,  add_selection,    add_products,
      add_excite,    add_integers,   add_pooled_parts, add_fused_projection,
      add_late_rows,
  };
  return all;
}

inline void add_inputs(Sketch& s, bool dynamic) {
  for (std::int64_t i = s.between(1, 2); i > 0; --i) {
    Dims dims;
    const std::int64_t rank = s.between(2, 4);
    for (std::int64_t axis = 0; axis < rank; ++axis)
      dims.push_back(axis == 0 && dynamic ? kSymbol : axis == 0 ? s.between(1, 3) : s.between(1, 6));
    if (s.chance(3) && rank < 4) dims.back() = 0;
    s.input(dims, s.real());
  }
}

/// What nothing uses is an output, and so are a few inner values; two names for one value at times.
inline void add_outputs(Sketch& s) {
  std::vector<std::string> used;
  for (const pb::NodeProto& node : s.graph().node()) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    for (const pb::AttributeProto& attribute : node.attribute())
      for (const pb::NodeProto& inner : attribute.g().node())
        used.insert(used.end(), inner.input().begin(), inner.input().end());
  }
  std::vector<std::string> given;
  for (const auto& input : s.graph().input()) given.push_back(input.name());
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::vector<Val> pool = s.pool();
  for (const Val& value : pool) {
    if (has(given, value.name)) continue;
    if (has(used, value.name) && !s.chance(12)) continue;
    s.describe(*s.graph().add_output(), value, true);
  }
  if (s.graph().output_size() > 0) return;
  Val copy = like(pool.back());
  s.node("Identity", {pool.back().name}, copy);
  s.describe(*s.graph().add_output(), copy, true);
}

inline GeneratedModel generate_model(std::uint64_t seed) {
  Rng rng(seed, "model");
  const std::vector<std::int64_t> opsets{7, 8, 9, 10, 11, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 19, 20, 21};
  const std::int64_t opset = opsets[rng.below(opsets.size())];
  const std::uint64_t kind = rng.below(100);
  const DType real = kind < 90 ? DType::float32 : kind < 96 || opset < 13 ? DType::float64 : DType::float16;
  Sketch s(opset, real, rng);
  const bool dynamic = s.chance(25);
  add_inputs(s, dynamic);
  const std::int64_t wanted = s.between(3, 14);
  for (std::int64_t added = 0, tries = 0; added < wanted && tries < 100; ++tries) {
    const Addition addition = s.chance(30) ? s.one_of(motifs()) : s.one_of(single_ops());
    if (s.pool().size() < 40 && addition(s)) ++added;
  }
  add_outputs(s);
  return {s.model().SerializeAsString(), opset, real, dynamic};
}

}
