#include "core/exec/equivalence/intermediate_outputs.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/model_skeleton.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;

::onnx::ModelProto load(const fs::path& path) {
  ::onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  if (!model.ParseFromIstream(&file))
    throw ExecError("cannot be read", path, "check that it is an ONNX model");
  return model;
}

}  // namespace

std::vector<std::string> IntermediateOutputs::made_values(const fs::path& model) {
  std::vector<std::string> names;
  const ::onnx::GraphProto graph = read_skeleton(model);
  for (const auto& node : graph.node())
    for (const std::string& output : node.output())
      if (!output.empty()) names.push_back(output);
  return names;
}

std::optional<Producer> IntermediateOutputs::producer_of(const fs::path& model, const std::string& value) {
  const ::onnx::GraphProto graph = read_skeleton(model);
  for (const auto& node : graph.node()) {
    if (std::find(node.output().begin(), node.output().end(), value) == node.output().end()) continue;
    Producer producer{node.op_type(), {node.input().begin(), node.input().end()}};
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "axis") producer.axis = attribute.i();
      if (attribute.name() == "keepdims") producer.keeps_dims = attribute.i() != 0;
    }
    return producer;
  }
  return std::nullopt;
}

IntermediateOutputs::IntermediateOutputs(const fs::path& model, const std::vector<std::string>& names)
    : names_(names) {
  ::onnx::ModelProto copy = load(model);
  std::set<std::string> outputs;
  for (const auto& output : copy.graph().output()) outputs.insert(output.name());
  for (const std::string& name : names)
    if (outputs.insert(name).second) copy.mutable_graph()->add_output()->set_name(name);
  std::string bytes;
  if (!copy.SerializeToString(&bytes)) throw ExecError("is too large to be copied", model, "");
  copy.Clear();
  session_ = std::make_unique<OrtSession>(bytes, model, SessionOptions{Optimisation::none, 1, {}});
}

std::vector<Tensor> IntermediateOutputs::run(std::span<const Tensor> inputs) {
  std::vector<Tensor> all = session_->run(inputs), wanted;
  for (const std::string& name : names_) {
    const auto& outputs = session_->outputs();
    const auto at = std::ranges::find(outputs, name, &ValueInfo::name);
    wanted.push_back(all[static_cast<std::size_t>(at - outputs.begin())]);
  }
  return wanted;
}

}
