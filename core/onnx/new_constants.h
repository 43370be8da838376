#pragma once

// Internal to core/onnx: initializers that a rewritten graph needs and the model does not have.

#include <map>
#include <unordered_map>
#include <vector>

#include "core/onnx/names.h"
#include "core/onnx/node_forms.h"

namespace regraft::onnx {

class NewConstants : public ConstantMaker {
 public:
  /// The constants' contents become entries of `payloads`.
  NewConstants(const graph::Tables& tables, Names& names, PayloadTable& payloads)
      : tables_(tables), names_(names), payloads_(payloads) {}

  std::string integers(std::span<const std::int64_t> values) override;
  std::string scalar(graph::DType dtype, double value) override;
  std::string reals(std::span<const float> values) override;
  void set_contents(::onnx::TensorProto& tensor, std::span<const std::byte> bytes) override {
    payloads_.set_copy(tensor, bytes);
  }
  /// The name of a weight: the model's own, or that of a new initializer.
  std::string weight(graph::WeightId id);

  /// The new initializers in the order of first use.
  std::vector<::onnx::TensorProto>& tensors() { return tensors_; }

 private:
  std::string small(graph::DType dtype, std::span<const std::int64_t> dims, std::span<const std::byte> bytes,
                    const std::string& stem);
  ::onnx::TensorProto& add(const std::string& name, graph::DType dtype, std::span<const std::int64_t> dims);

  const graph::Tables& tables_;
  Names& names_;
  PayloadTable& payloads_;
  std::vector<::onnx::TensorProto> tensors_;
  std::map<std::string, std::string> small_names_;  // by type and contents
  std::unordered_map<graph::WeightId, std::string> weight_names_;
};

}
