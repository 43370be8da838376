#include "core/onnx/export.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/graph/evaluate_pieces.h"
#include "core/onnx/data_files.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/protobuf_wire.h"
#include "core/onnx/tensor_walk.h"
#include "core/onnx/written_model.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;

constexpr std::uint64_t kLargestMessageBytes = (std::uint64_t{1} << 31) - 1;  // protobuf's own limit
constexpr std::uint64_t kSmallestExternalBytes = 1024;
constexpr std::uint64_t kPageBytes = 4096, kLineBytes = 64, kPagedTensorBytes = 1 << 20;
constexpr std::string_view kDataSuffix = ".data";
constexpr std::size_t kChunkBytes = std::size_t{16} << 20;

/// Contents of the data file, in order, with zeros before each to its offset.
struct DataFile {
  std::vector<std::pair<std::uint64_t, Payload>> parts;
  std::uint64_t size_bytes = 0;
};

void set_entry(pb::TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

/// Moves the payloads of all initializers into a data file, whose name is not known yet.
DataFile move_out(WrittenModel& written) {
  DataFile data;
  for_each_tensor(written.model, [&](pb::TensorProto& tensor, bool is_initializer) {
    if (!is_initializer || !tensor.has_raw_data()) return;
    const Payload& payload = written.payloads.of(tensor);
    if (payload.size_bytes < kSmallestExternalBytes) return;
    const std::uint64_t unit = payload.size_bytes >= kPagedTensorBytes ? kPageBytes : kLineBytes;
    const std::uint64_t offset = (data.size_bytes + unit - 1) / unit * unit;
    data.parts.emplace_back(offset, payload);
    data.size_bytes = offset + payload.size_bytes;
    tensor.clear_raw_data();
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    set_entry(tensor, "location", "");
    set_entry(tensor, "offset", std::to_string(offset));
    set_entry(tensor, "length", std::to_string(payload.size_bytes));
  });
  return data;
}

void name_data(WrittenModel& written, const std::string& file_name) {
  for_each_tensor(written.model, [&](pb::TensorProto& tensor, bool) {
    for (auto& entry : *tensor.mutable_external_data())
      if (entry.key() == "location" && entry.value().empty()) entry.set_value(file_name);
  });
}

/// Writes tensor contents, folding weights one at a time, and lets go of mapped pages behind itself.
class PayloadWriter {
 public:
  explicit PayloadWriter(const ImportedModel& model) : store_(model.store()), tables_(model.tables()) {}

  template <typename Write>
  void write(std::span<const std::byte> bytes, graph::WeightId weight, std::uint64_t size_bytes,
             const Write& write_chunk) {
    std::uint64_t written = 0;
    const auto write_part = [&](std::span<const std::byte> part) {
      for (std::size_t at = 0; at < part.size(); at += kChunkBytes)
        write_chunk(part.subspan(at, std::min(kChunkBytes, part.size() - at)));
      written += part.size();
      release(bytes, weight);
    };
    if (weight == graph::WeightId::none)
      write_part(bytes);
    else
      graph::evaluate_in_pieces(tables_, weight, write_part);
    if (written != size_bytes)
      throw OnnxError("a folded weight has the wrong size", "", "please report this");
  }

 private:
  /// The pages that were read for one piece: its own bytes, or those of the tensors that it was folded from.
  void release(std::span<const std::byte> bytes, graph::WeightId weight) const {
    if (weight == graph::WeightId::none) return store_.release(bytes);
    std::vector<graph::WeightId> open{weight};
    std::unordered_set<graph::WeightId> seen;
    while (!open.empty()) {
      const graph::WeightExpr& held = tables_.weights()[open.back()];
      open.pop_back();
      if (held.form == graph::WeightExpr::Form::source) store_.release(held.bytes);
      for (const graph::WeightId arg : held.args)
        if (arg != graph::WeightId::none && seen.insert(arg).second) open.push_back(arg);
    }
  }

  const ModelStore& store_;
  const graph::Tables& tables_;
};

template <typename Write>
void write_pieces(const MessagePieces& message, PayloadWriter& payloads, const Write& write_chunk) {
  for (const MessagePieces::Piece& piece : message.pieces)
    payloads.write(piece.bytes, piece.weight, piece.size_bytes, write_chunk);
}

/// After a failure: the new data file, unless the model that is there names it.
void remove_unused_data(const fs::path& model, std::span<const std::string> made) {
  std::string there;
  try {
    there = read_file(model);
  } catch (const FileError&) {
    // There is no model.
  }
  std::error_code ignored;
  for (const std::string& name : made)
    if (there.find(name) == std::string::npos) fs::remove(model.parent_path() / name, ignored);
}

/// Writes the data file beside the model and gives its name, which tells its contents: another version of the
/// same model never finds its data changed, whatever happens between the two renames.
fs::path write_data(const DataFile& data, PayloadWriter& payloads, const fs::path& model) {
  const fs::path unnamed = model.string() + ".data.unnamed";
  AtomicFile file(unnamed);
  Hasher hasher(12);
  std::uint64_t at = 0;
  for (const auto& [offset, payload] : data.parts) {
    file.write(std::string(offset - at, '\0'));
    hasher.add(offset);
    payloads.write(payload.view(), payload.weight, payload.size_bytes, [&](std::span<const std::byte> chunk) {
      hasher.add(hash_bytes(chunk));
      file.write(chunk);
    });
    at = offset + payload.size_bytes;
  }
  file.commit();
  const fs::path named = model.string() + "." + hasher.finish().hex() + std::string(kDataSuffix);
  std::error_code problem;
  fs::rename(unnamed, named, problem);
  if (problem)
    throw FileError("cannot be renamed: " + problem.message(), unnamed.string(), "check the folder");
  sync_folder(named.parent_path().empty() ? "." : named.parent_path());
  return named.filename();
}

MessagePieces pieces_of(const WrittenModel& written) {
  return inflate(written.model.SerializeAsString(), Message::model, written.payloads);
}

[[noreturn]] void refuse_size(const std::string& where) {
  throw OnnxError("would be larger than 2 GB, which no ONNX file may be", where, "allow external data");
}

}  // namespace

void export_model(const ImportedModel& model, std::span<const graph::Graph> graphs, const fs::path& path,
                  const ExportOptions& options) {
  WrittenModel written = write_messages(model, graphs);
  const bool wanted = options.external_data == ExternalData::always ||
                      (options.external_data == ExternalData::when_needed && model.store().had_external_data);
  MessagePieces message;
  if (!wanted) message = pieces_of(written);
  const bool too_large = !wanted && message.size_bytes > kLargestMessageBytes;
  if (too_large && options.external_data == ExternalData::never) refuse_size(path.string());

  PayloadWriter payloads(model);
  std::vector<std::string> kept;
  AtomicFile file(path);
  if (wanted || too_large) {
    const DataFile data = move_out(written);
    if (pieces_of(written).size_bytes > kLargestMessageBytes) refuse_size(path.string());
    if (!data.parts.empty()) kept.push_back(write_data(data, payloads, path).string());
    if (!kept.empty()) name_data(written, kept.front());
    message = pieces_of(written);
  }
  try {
    write_pieces(message, payloads, [&](std::span<const std::byte> chunk) { file.write(chunk); });
    file.commit();
  } catch (...) {
    remove_unused_data(path, kept);
    throw;
  }
  remove_stale_data(path, kept);
}

std::string export_model_bytes(const ImportedModel& model, std::span<const graph::Graph> graphs) {
  const MessagePieces message = pieces_of(write_messages(model, graphs));
  if (message.size_bytes > kLargestMessageBytes) refuse_size("model in memory");
  std::string bytes;
  bytes.reserve(message.size_bytes);
  PayloadWriter payloads(model);
  write_pieces(message, payloads, [&](std::span<const std::byte> chunk) {
    bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  });
  return bytes;
}

}
