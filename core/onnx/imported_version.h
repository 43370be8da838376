#pragma once

// Internal to core/onnx: which versions of domains a model imports.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string_view>

namespace regraft::onnx {

/// The version of a runtime's own domain at which its ops are what the op table says.
inline constexpr std::int64_t kRuntimeDomainVersion = 1;

/// The version of a domain that the model imports; 0 when it does not.
std::int64_t imported_version(const ::onnx::ModelProto& model, std::string_view domain);

}
