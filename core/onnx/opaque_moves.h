#pragma once

// Internal to core/onnx: types of opaque nodes that move elements.

#include "core/onnx/question.h"

namespace regraft::onnx {

/// Resize and Upsample by sizes or scales.
Answer resize(const Question& q);
/// Also backwards, as exporters turn a sequence round.
Answer slice(const Question& q);
/// Equal parts of a dim that is a symbol, or parts of computed sizes.
Answer split(const Question& q);
/// By the sizes of its indices.
Answer gather_nd(const Question& q);
Answer depth_to_space(const Question& q);
Answer space_to_depth(const Question& q);

}
