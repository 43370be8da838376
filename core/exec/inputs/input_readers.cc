#include "core/exec/inputs/input_readers.h"

#include <limits>

namespace regraft::exec {
namespace {

using enum Meaning;
using Limit = InputReader::Limit;

constexpr int kAnySlot = std::numeric_limits<int>::max();

constexpr InputReader kReaders[] = {
    // Look-ups.
    {"Gather", 1, index, 0, Limit::axis},
    {"GatherElements", 1, index, 0, Limit::axis},
    {"GatherND", 1, index, 0, Limit::smallest_dim},
    {"ScatterElements", 1, index, 0, Limit::axis},
    {"Scatter", 1, index, 0, Limit::axis},
    {"ScatterND", 1, index, 0, Limit::smallest_dim},
    {"ArrayFeatureExtractor", 1, index, 0, Limit::axis, 0, 8, -1},
    {"NegativeLogLikelihoodLoss", 1, index, 0, Limit::axis, 0, 8, 1},
    {"SoftmaxCrossEntropyLoss", 1, index, 0, Limit::axis, 0, 8, 1},
    {"RoiAlign", 2, index, 0, Limit::first_dim},
    {"RotaryEmbedding", 3, index, 1, Limit::first_dim},
    {"EmbedLayerNormalization", 0, index, 2, Limit::first_dim},
    {"EmbedLayerNormalization", 1, index, 4, Limit::first_dim},
    {"com.microsoft.RotaryEmbedding", 1, index, 2, Limit::first_dim},
    {"SequenceAt", 1, integer, -1, Limit::none, 0, 1},
    {"SequenceErase", 1, integer, -1, Limit::none, 0, 1},
    {"SequenceInsert", 2, integer, -1, Limit::none, 0, 1},
    {"OneHot", 1, integer, -1, Limit::none, 4, 9},
    // Lengths and counts.
    {"TopK", 1, count, 0, Limit::axis, 0, 8, -1},
    {"LSTM", 4, count, 0, Limit::first_dim},
    {"GRU", 4, count, 0, Limit::first_dim},
    {"RNN", 4, count, 0, Limit::first_dim},
    {"Attention", 6, count, 1, Limit::axis, 0, 8, -2},
    {"ReverseSequence", 1, count, 0, Limit::axis},
    {"NonMaxSuppression", 2, integer, -1, Limit::none, 1, 9},
    {"Loop", 0, integer, -1, Limit::none, 1, 5},
    {"Range", 0, integer, -1, Limit::none, 0, 1},
    {"Range", 1, integer, -1, Limit::none, 1, 9},
    {"Range", 2, integer, -1, Limit::none, 1, 2},
    {"HannWindow", 0, integer, -1, Limit::none, 4, 17},
    {"HammingWindow", 0, integer, -1, Limit::none, 4, 17},
    {"BlackmanWindow", 0, integer, -1, Limit::none, 4, 17},
    {"DFT", 1, integer, -1, Limit::none, 4, 17},
    {"STFT", 1, integer, -1, Limit::none, 4, 9},
    {"STFT", 3, integer, -1, Limit::none, 16, 17},
    {"MelWeightMatrix", 0, integer, -1, Limit::none, 8, 9},
    {"MelWeightMatrix", 1, integer, -1, Limit::none, 16, 17},
    {"MelWeightMatrix", 2, integer, -1, Limit::none, 8192, 8193},
    {"MelWeightMatrix", 3, real, -1, Limit::none, 0, 1},
    {"MelWeightMatrix", 4, real, -1, Limit::none, 4000, 4096},
    // Axes, shapes, sizes.
    {"CumSum", 1, axis, 0},
    {"DFT", 2, axis, 0},
    {"Pad", 3, axis, 0},
    {"Slice", 3, axis, 0},
    {"Squeeze", 1, unit_axis, 0},
    {"Unsqueeze", 1, new_axis, 0},
    {"ReduceSum", 1, axis, 0},
    {"ReduceMean", 1, axis, 0},
    {"ReduceMax", 1, axis, 0},
    {"ReduceMin", 1, axis, 0},
    {"ReduceProd", 1, axis, 0},
    {"ReduceL1", 1, axis, 0},
    {"ReduceL2", 1, axis, 0},
    {"ReduceLogSum", 1, axis, 0},
    {"ReduceLogSumExp", 1, axis, 0},
    {"ReduceSumSquare", 1, axis, 0},
    {"Reshape", 1, shape, 0},
    {"Expand", 1, sizes, 0},
    {"Resize", 3, sizes, 0},
    {"CenterCropPad", 1, sizes, 0},
    {"MaxUnpool", 2, unpooled, 0},
    {"Col2Im", 1, image, 0},
    {"Col2Im", 2, integer, -1, Limit::none, 1, 2},
    {"ConstantOfShape", 0, integer, -1, Limit::none, 1, 5},
    {"Slice", 1, start, 0},
    {"Slice", 2, end, 0},
    {"Slice", 4, integer, -1, Limit::none, 1, 2},
    {"Split", 1, parts, 0},
    {"SplitToSequence", 1, parts, 0},
    {"Tile", 1, repeats, 0},
    {"Pad", 1, pads, 0},
    {"Trilu", 1, integer, -1, Limit::none, -1, 2},
    // Numbers that an op takes only within bounds.
    {"Mod", 1, integer, -1, Limit::none, 1, 8},
    {"BitShift", 1, integer, -1, Limit::none, 0, 4},
    {"Dropout", 1, real, -1, Limit::none, 0, 0.9},
    {"Dropout", 2, integer, -1, Limit::none, 0, 1},
    {"Resize", 2, real, -1, Limit::none, 1, 1},
    {"Upsample", 1, real, -1, Limit::none, 1, 1},
    {"BatchNormalization", 4, real, -1, Limit::none, 0.25, 4},
    {"QuantizeLinear", 1, real, -1, Limit::none, 0.01, 0.1},
    {"DequantizeLinear", 1, real, -1, Limit::none, 0.01, 0.1},
    {"QuantizeLinear", 2, zero_point},
    {"DequantizeLinear", 2, zero_point},
    {"NonMaxSuppression", 3, real, -1, Limit::none, 0, 1},
    {"NonMaxSuppression", 4, real, -1, Limit::none, 0, 1},
    {"Bernoulli", 0, real, -1, Limit::none, 0, 1},
    {"Sqrt", 0, real, -1, Limit::none, 0.1, 4},
    {"Log", 0, real, -1, Limit::none, 0.1, 4},
    {"Acosh", 0, real, -1, Limit::none, 1, 4},
    {"Acos", 0, real, -1, Limit::none, -1, 1},
    {"Asin", 0, real, -1, Limit::none, -1, 1},
    {"Atanh", 0, real, -1, Limit::none, -0.99, 0.99},
    {"Clip", 1, real, -1, Limit::none, -1, 0},
    {"Clip", 2, real, -1, Limit::none, 0.5, 2},
    // Masks and conditions.
    {"Attention", 3, score_mask},
    {"com.microsoft.MultiHeadAttention", 5, score_mask},
};

constexpr InputMover kMovers[] = {
    {"Identity"},
    {"Cast"},
    {"Reshape"},
    {"Squeeze"},
    {"Unsqueeze"},
    {"Transpose"},
    {"Flatten"},
    {"Slice"},
    {"Split"},
    {"Expand"},
    {"Tile"},
    {"Gather"},
    {"Concat", 0, kAnySlot},
    {"Where", 1, 2},
    {"Min", 0, kAnySlot},
    {"Max", 0, kAnySlot},
};

}  // namespace

std::span<const InputReader> input_readers() {
  return kReaders;
}

std::span<const InputMover> input_movers() {
  return kMovers;
}

}
