#include "core/onnx/import.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "core/onnx/external_data.h"
#include "core/onnx/functions.h"
#include "core/onnx/graph_builder.h"
#include "core/onnx/model_store.h"
#include "core/onnx/node_names.h"
#include "core/onnx/wire.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;

/// Whether bytes that fail to parse were an ONNX model once: it starts with ir_version, a small number.
bool starts_like_a_model(std::span<const std::byte> bytes) {
  constexpr std::byte kIrVersionTag{0x08}, kNewestIr{64};
  return bytes.size() >= 2 && bytes[0] == kIrVersionTag && bytes[1] < kNewestIr;
}

[[noreturn]] void refuse_damaged(const std::string& where, std::span<const std::byte> bytes,
                                 const std::string& detail) {
  if (starts_like_a_model(bytes))
    throw OnnxError("is truncated or damaged: " + detail, where, "copy or export the model again");
  throw OnnxError("is not an ONNX model: " + detail, where, "give a .onnx file");
}

void parse(ModelStore& store, std::span<const std::byte> bytes, const std::string& where) {
  std::string slim;
  try {
    slim = slim_model(bytes, store.payloads);
  } catch (const OnnxError& error) {
    refuse_damaged(where, bytes, error.problem());
  }
  google::protobuf::io::ArrayInputStream stream(slim.data(), static_cast<int>(slim.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxDepth + 20);  // our own limit has been kept already
  const bool parsed = slim.size() <= static_cast<std::size_t>(INT32_MAX) &&
                      store.model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  if (!parsed) refuse_damaged(where, bytes, "it cannot be parsed");
  if (!store.model.has_graph()) {
    if (store.model.has_ir_version() && store.model.opset_import_size() > 0)
      throw OnnxError("holds no graph", where, "export the model again");
    throw OnnxError("is not an ONNX model: it holds no graph", where, "give a .onnx file");
  }
}

std::int64_t default_opset(const pb::ModelProto& model) {
  std::int64_t version = 0;
  for (const auto& opset : model.opset_import())
    if (is_default_domain(opset.domain())) version = std::max(version, opset.version());
  return version;
}

}  // namespace

std::int64_t imported_version(const pb::ModelProto& model, std::string_view domain) {
  for (const auto& opset : model.opset_import())
    if (opset.domain() == domain) return opset.version();
  return 0;
}

namespace {

std::unique_ptr<graph::Tables> built(ModelStore& store, const ImportOptions& options) {
  store.scopes.clear();
  store.bodies.clear();
  store.source_count = store.origin_count = 0;
  auto tables = std::make_unique<graph::Tables>();
  tables->set_opset(store.opset);
  build_graphs(store, *tables, options);
  return tables;
}

/// False when there was none to take: each round may decide more.
bool take_decided_branches(ModelStore& store, std::size_t limit) {
  if (store.inlined_calls >= limit || store.model.training_info_size() > 0) return false;
  DecidedBranches decided;
  for (const GraphScope& scope : store.scopes) decided.insert(scope.decided.begin(), scope.decided.end());
  const std::size_t taken = inline_branches(store.model, decided, limit - store.inlined_calls);
  store.inlined_calls += taken;
  return taken > 0;
}

ImportedModel import_parsed(std::unique_ptr<ModelStore> store, std::span<const std::byte> bytes,
                            const fs::path& folder, const std::string& where, const ImportOptions& options) {
  parse(*store, bytes, where);
  try {
    load_external_data(*store, folder);
    store->opset = default_opset(store->model);
    store->inlined_calls = inline_functions(store->model, options.inlined_calls);
    std::unique_ptr<graph::Tables> tables = built(*store, options);
    while (take_decided_branches(*store, options.inlined_calls)) tables = built(*store, options);
    return {std::move(tables), std::move(store)};
  } catch (const OnnxError& error) {
    throw OnnxError(error.problem(), error.where().empty() ? where : where + ", " + error.where(),
                    error.remedy());
  }
}

}  // namespace

void ModelStore::release(std::span<const std::byte> bytes) const {
  constexpr std::uintptr_t kPageBytes = 4096;
  constexpr std::size_t kWorthwhileBytes = std::size_t{1} << 20;
  if (bytes.size() < kWorthwhileBytes) return;
  const auto mapped = [&](const MappedFile& file) {
    const auto whole = file.bytes();
    return bytes.data() >= whole.data() && bytes.data() + bytes.size() <= whole.data() + whole.size();
  };
  if (std::none_of(files.begin(), files.end(), mapped)) return;
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(bytes.data()) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / kPageBytes * kPageBytes;
  // Advice that is not taken costs memory, nothing else.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

const GraphScope& ModelStore::scope_of(std::int32_t origin) const {
  const auto after = std::ranges::upper_bound(scopes, origin, {}, &GraphScope::first_origin);
  return *std::prev(after);
}

const std::string& GraphScope::input_name(std::int32_t origin) const {
  const int sparse = origin - proto->input_size(), captured = sparse - proto->sparse_initializer_size();
  if (sparse < 0) return proto->input(origin).name();
  if (captured < 0) return proto->sparse_initializer(sparse).values().name();
  return captures[static_cast<std::size_t>(captured)];
}

std::string GraphScope::value_name(graph::Value value) const {
  const graph::Node& made = graph->node(value.node);
  if (made.kind == graph::OpKind::weight) {
    const auto found = weight_names.find(made.weight);
    return found == weight_names.end() ? "" : found->second;
  }
  if (made.kind == graph::OpKind::input) return input_name(made.origin);
  const int output = static_cast<int>(value.output);
  return output < node(made.origin).output_size() ? node(made.origin).output(output) : "";
}

Runs Runs::times_each(const Runs& inner) const {
  Runs both{times * inner.times, lengths};
  both.lengths.insert(both.lengths.end(), inner.lengths.begin(), inner.lengths.end());
  return both;
}

double Runs::at(const graph::Bindings& bindings) const {
  double count = times;
  for (const graph::Dim length : lengths) count *= static_cast<double>(bindings.value(length));
  return count;
}

std::string Runs::describe(const graph::Tables& tables) const {
  double count = times;
  std::string symbols;
  for (const graph::Dim length : lengths) {
    if (graph::is_symbol(length))
      symbols += " * " + tables.symbol_name(graph::dim_symbol(length));
    else
      count *= static_cast<double>(length);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", count);
  return text + symbols;
}

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

std::vector<std::string> ImportedModel::input_names() const {
  std::vector<std::string> names;
  for (const auto& input : store_->model.graph().input()) {
    const auto found = store_->main().names.find(input.name());
    if (found != store_->main().names.end() && found->second.weight == graph::WeightId::none)
      names.push_back(input.name());
  }
  return names;
}

std::vector<std::string> ImportedModel::output_names() const {
  std::vector<std::string> names;
  for (const auto& output : store_->model.graph().output()) names.push_back(output.name());
  return names;
}

std::string ImportedModel::node_name(std::int32_t origin) const {
  return store_->scope_of(origin).node(origin).name();
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

ImportedModel import_model(const fs::path& path, const ImportOptions& options) {
  auto store = std::make_unique<ModelStore>();
  store->path = path;
  try {
    store->files.emplace_back(path);
  } catch (const FileError& error) {
    throw OnnxError(error.problem(), error.where(), error.remedy());
  }
  const auto bytes = store->files.front().bytes();
  return import_parsed(std::move(store), bytes, path.parent_path(), path.string(), options);
}

ImportedModel import_model_bytes(std::span<const std::byte> bytes, const fs::path& folder,
                                 const ImportOptions& options) {
  return import_parsed(std::make_unique<ModelStore>(), bytes, folder, "model in memory", options);
}

}  // namespace regraft::onnx
