#pragma once

// Models whose calls and sure branches were opened when they were read.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx::test {

/// The model as it is written again after at most `limit` of them.
inline pb::ModelProto inlined(const ModelBuilder& builder, std::size_t limit = 100) {
  const std::string bytes = builder.bytes();
  const ImportedModel model =
      import_model_bytes(std::as_bytes(std::span(bytes)), ".", {.inlined_calls = limit});
  pb::ModelProto out;
  EXPECT_TRUE(out.ParseFromString(export_model_bytes(model, model.graph())));
  return out;
}

inline std::vector<std::string> ops(const pb::ModelProto& model) {
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

}
