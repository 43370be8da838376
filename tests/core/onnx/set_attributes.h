#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace regraft::onnx::test {

inline ::onnx::AttributeProto& add_attribute(::onnx::NodeProto& node, const std::string& name,
                                             ::onnx::AttributeProto::AttributeType type) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

inline void set_ints(::onnx::NodeProto& node, const std::string& name,
                     const std::vector<std::int64_t>& values) {
  auto& attribute = add_attribute(node, name, ::onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

inline void set_int(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  add_attribute(node, name, ::onnx::AttributeProto::INT).set_i(value);
}

inline void set_float(::onnx::NodeProto& node, const std::string& name, float value) {
  add_attribute(node, name, ::onnx::AttributeProto::FLOAT).set_f(value);
}

inline void set_text(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
  add_attribute(node, name, ::onnx::AttributeProto::STRING).set_s(value);
}

}
