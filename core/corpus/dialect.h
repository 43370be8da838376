#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/corpus/draw.h"

namespace regraft::corpus {

/// Who wrote the model.
enum class Exporter : std::uint8_t {
  torch_script,  // torch.onnx.export(dynamo=False): constants folded
  torch_raw,     // the same without folding: BatchNorm, transposed weights, shape arithmetic
  torch_dynamo,  // torch.onnx.export(dynamo=True)
  tensorflow,    // tf2onnx of a Keras model: images come as NHWC
  paddle,        // paddle2onnx
};
constexpr std::array<std::string_view, 5> enum_names(Exporter) {
  return {"torch_script", "torch_raw", "torch_dynamo", "tensorflow", "paddle"};
}

/// How an exporter writes what ONNX has several forms for.
struct Dialect {
  Exporter exporter = Exporter::torch_script;
  std::int64_t opset = 17;
  bool folds_norms = true;     // BatchNorm after a convolution is part of it
  bool reduces_space = false;  // means over space are ReduceMean, not GlobalAveragePool
  bool fused_attention =
      false;  // one projection for queries, keys and values; scaled as in PyTorch's own function
  bool flat_products = false;  // a MatMul of rank 3 is one of rank 2 between two Reshapes

  bool is_torch() const { return exporter <= Exporter::torch_dynamo; }
  bool is(Exporter other) const { return exporter == other; }
  bool constants_are_nodes() const {
    return exporter != Exporter::torch_dynamo && exporter != Exporter::tensorflow;
  }
  std::string producer() const;
  std::string producer_version() const;
};

/// Seeds in a row have all exporters in turn.
Dialect draw_dialect(std::uint64_t seed, Draw& draw);

}
