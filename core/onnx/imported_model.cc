#include "core/onnx/imported_model.h"

#include "core/onnx/model_store.h"
#include "core/onnx/node_names.h"

namespace regraft::onnx {

namespace fs = std::filesystem;
namespace pb = ::onnx;

ImportedModel::ImportedModel(std::unique_ptr<graph::Tables> tables, std::unique_ptr<ModelStore> store)
    : tables_(std::move(tables)), store_(std::move(store)) {}
ImportedModel::ImportedModel(ImportedModel&&) noexcept = default;
ImportedModel& ImportedModel::operator=(ImportedModel&&) noexcept = default;
ImportedModel::~ImportedModel() = default;

std::int64_t ImportedModel::opset() const {
  return store_->opset;
}
std::size_t ImportedModel::inlined_calls() const {
  return store_->inlined_calls;
}
const fs::path& ImportedModel::path() const {
  return store_->path;
}

const std::vector<std::string>& ImportedModel::external_locations() const {
  return store_->external_locations;
}
std::size_t ImportedModel::graph_count() const {
  return store_->scopes.size();
}
const graph::Graph& ImportedModel::graph(std::size_t at) const {
  return *store_->scopes.at(at).graph;
}
const std::string& ImportedModel::graph_path(std::size_t at) const {
  return store_->scopes.at(at).path;
}
const Runs& ImportedModel::graph_runs(std::size_t at) const {
  return store_->scopes.at(at).runs;
}
const std::vector<KnownValue>& ImportedModel::known_values(std::size_t at) const {
  return store_->scopes.at(at).known_values;
}

std::string ImportedModel::op_type(std::int32_t origin) const {
  const pb::NodeProto& node = store_->scope_of(origin).node(origin);
  return full_name(node.domain(), node.op_type());
}

std::optional<graph::TypeId> ImportedModel::type_of(const std::string& name) const {
  const auto& names = store_->main().names;
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  const NamedValue& named = found->second;
  return named.weight == graph::WeightId::none ? graph().type_id(named.value)
                                               : tables_->weights()[named.weight].type;
}

std::string ImportedModel::value_name(graph::Value value, std::size_t at) const {
  return store_->scopes.at(at).value_name(value);
}

}
