#include "core/onnx/import.h"

#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "core/onnx/build_graphs.h"
#include "core/onnx/fix_dims.h"
#include "core/onnx/inline_functions.h"
#include "core/onnx/load_external_data.h"
#include "core/onnx/model_store.h"
#include "core/onnx/node_names.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/protobuf_wire.h"

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

std::unique_ptr<graph::Tables> built(ModelStore& store) {
  store.scopes.clear();
  store.bodies.clear();
  store.source_count = store.origin_count = 0;
  auto tables = std::make_unique<graph::Tables>();
  tables->set_opset(store.opset);
  build_graphs(store, *tables);
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
    fix_dims(store->model, options.fixed);
    store->opset = default_opset(store->model);
    store->inlined_calls = inline_functions(store->model, options.inlined_calls);
    std::unique_ptr<graph::Tables> tables = built(*store);
    while (take_decided_branches(*store, options.inlined_calls)) tables = built(*store);
    return {std::move(tables), std::move(store)};
  } catch (const OnnxError& error) {
    throw OnnxError(error.problem(), error.where().empty() ? where : where + ", " + error.where(),
                    error.remedy());
  }
}

}  // namespace

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

}
