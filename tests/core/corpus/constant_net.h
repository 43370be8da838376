#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/corpus/model_bytes.h"
#include "core/corpus/net.h"
#include "core/graph/evaluate.h"
#include "core/onnx/import.h"

namespace regraft::corpus {

inline Net net_of(Exporter exporter, std::int64_t opset) {
  Dialect dialect;
  dialect.exporter = exporter;
  dialect.opset = opset;
  return Net(dialect);
}

/// What a net without inputs computes, of which `result` is the last node's.
inline std::vector<double> value_of(Net& net, const Tensor& result) {
  net.output(result);
  const std::string bytes = model_bytes(net.model(), 5);
  const onnx::ImportedModel model = onnx::import_model_bytes(std::as_bytes(std::span(bytes)), {});
  return graph::evaluate(model.tables(), model.known_values().back().weight).real;
}

}
