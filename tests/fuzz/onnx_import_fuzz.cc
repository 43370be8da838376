// Any bytes as a model: an OnnxError, or a graph that is consistent and that export and import bring back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/graph/order.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "support/validate.h"

namespace {

regraft::onnx::ImportedModel import_text(const std::string& bytes) {
  return regraft::onnx::import_model_bytes(std::as_bytes(std::span(bytes)), "/nonexistent");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto model = import_text(bytes);
    regraft::graph::validate(model.graph());
    const std::string written = regraft::onnx::export_model_bytes(model, model.graph());
    const auto again = import_text(written);  // must succeed: what we write is a model
    if (regraft::graph::structural_hash(again.graph()) != regraft::graph::structural_hash(model.graph()))
      std::abort();
    if (regraft::onnx::export_model_bytes(again, again.graph()) != written) std::abort();
  } catch (const regraft::onnx::OnnxError&) {
  }
  return 0;
}
