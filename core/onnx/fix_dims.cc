#include "core/onnx/fix_dims.h"

#include "core/graph/dim_name.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;

class DimFixer {
 public:
  explicit DimFixer(const std::map<std::string, std::int64_t>& sizes) : sizes_(sizes) {}

  /// `names_axes`: of the main graph's inputs, whose dims have names all.
  void fix(pb::GraphProto& graph, bool names_axes) {
    for (pb::ValueInfoProto& value : *graph.mutable_input())
      fix(*value.mutable_type(), names_axes ? value.name() : "");
    for (pb::ValueInfoProto& value : *graph.mutable_output()) fix(*value.mutable_type(), "");
    for (pb::ValueInfoProto& value : *graph.mutable_value_info()) fix(*value.mutable_type(), "");
    for (pb::NodeProto& node : *graph.mutable_node())
      for (pb::AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) fix(*attribute.mutable_g(), false);
  }

 private:
  void fix(pb::TypeProto& type, const std::string& input) {
    if (type.has_sequence_type()) fix(*type.mutable_sequence_type()->mutable_elem_type(), input);
    if (type.has_optional_type()) fix(*type.mutable_optional_type()->mutable_elem_type(), input);
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
    int axis = 0;
    for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      const std::string unnamed = input.empty() ? "" : input + "." + std::to_string(axis++);
      if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
      const auto size = sizes_.find(graph::is_dim_name(dim.dim_param()) ? dim.dim_param() : unnamed);
      if (size != sizes_.end()) dim.set_dim_value(size->second);
    }
  }

  const std::map<std::string, std::int64_t>& sizes_;
};

}  // namespace

void fix_dims(pb::ModelProto& model, const std::map<std::string, std::int64_t>& sizes) {
  if (!sizes.empty()) DimFixer(sizes).fix(*model.mutable_graph(), true);
}

}
