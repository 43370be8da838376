#include "core/onnx/node_names.h"

namespace regraft::onnx {

bool is_default_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

std::string full_name(const std::string& domain, const std::string& op_type) {
  return is_default_domain(domain) ? op_type : domain + "." + op_type;
}

std::string describe(const ::onnx::NodeProto& node, int at) {
  return "node " + std::to_string(at) + " (" + node.op_type() +
         (node.name().empty() ? "" : " '" + node.name() + "'") + ")";
}

}
