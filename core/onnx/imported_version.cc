#include "core/onnx/imported_version.h"

namespace regraft::onnx {

std::int64_t imported_version(const ::onnx::ModelProto& model, std::string_view domain) {
  for (const auto& opset : model.opset_import())
    if (opset.domain() == domain) return opset.version();
  return 0;
}

}
