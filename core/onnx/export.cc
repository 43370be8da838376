#include "core/onnx/export.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/file.h"
#include "core/graph/evaluate.h"
#include "core/onnx/model_writer.h"
#include "core/onnx/wire.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;

constexpr std::uint64_t kLargestMessageBytes = (std::uint64_t{1} << 31) - 1;  // protobuf's own limit
constexpr std::uint64_t kSmallestExternalBytes = 1024;
constexpr std::uint64_t kPageBytes = 4096, kLineBytes = 64, kPagedTensorBytes = 1 << 20;
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

/// Moves the payloads of all initializers into a data file of the given name.
DataFile move_out(WrittenModel& written, const std::string& file_name) {
  DataFile data;
  for_each_tensor(written.model, [&](pb::TensorProto& tensor, bool is_initializer) {
    if (!is_initializer || !PayloadTable::is_placeholder(tensor.raw_data())) return;
    const Payload& payload = written.payloads.at(tensor.raw_data());
    if (payload.size_bytes < kSmallestExternalBytes) return;
    const std::uint64_t unit = payload.size_bytes >= kPagedTensorBytes ? kPageBytes : kLineBytes;
    const std::uint64_t offset = (data.size_bytes + unit - 1) / unit * unit;
    data.parts.emplace_back(offset, payload);
    data.size_bytes = offset + payload.size_bytes;
    tensor.clear_raw_data();
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    set_entry(tensor, "location", file_name);
    set_entry(tensor, "offset", std::to_string(offset));
    set_entry(tensor, "length", std::to_string(payload.size_bytes));
  });
  return data;
}

/// Writes tensor contents, folding weights one at a time, and lets go of mapped pages behind itself.
class PayloadWriter {
 public:
  PayloadWriter(const ImportedModel& model, const graph::Graph& graph)
      : store_(model.store()), tables_(graph.tables()) {}

  template <typename Write>
  void write(std::span<const std::byte> bytes, graph::WeightId weight, std::uint64_t size_bytes,
             const Write& write_chunk) {
    std::vector<std::byte> folded;
    if (weight != graph::WeightId::none) {
      folded = graph::evaluate_bytes(tables_, weight);
      bytes = folded;
      if (bytes.size() != size_bytes) throw OnnxError("a folded weight has the wrong size", "", "");
    }
    for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes)
      write_chunk(bytes.subspan(at, std::min(kChunkBytes, bytes.size() - at)));
    release(bytes, weight);
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
void write_rope(const Rope& rope, PayloadWriter& payloads, const Write& write_chunk) {
  for (const Rope::Piece& piece : rope.pieces)
    payloads.write(piece.bytes, piece.weight, piece.size_bytes, write_chunk);
}

void write_data(const DataFile& data, PayloadWriter& payloads, AtomicFile& file) {
  std::uint64_t at = 0;
  for (const auto& [offset, payload] : data.parts) {
    file.write(std::string(offset - at, '\0'));
    payloads.write(payload.bytes, payload.weight, payload.size_bytes,
                   [&](std::span<const std::byte> chunk) { file.write(chunk); });
    at = offset + payload.size_bytes;
  }
}

Rope rope_of(const WrittenModel& written) {
  return inflate(written.model.SerializeAsString(), Message::model, written.payloads);
}

[[noreturn]] void refuse_size(const std::string& where) {
  throw OnnxError("would be larger than 2 GB, which no ONNX file may be", where, "allow external data");
}

}  // namespace

void export_model(const ImportedModel& model, const graph::Graph& graph, const fs::path& path,
                  const ExportOptions& options) {
  WrittenModel written = write_messages(model, graph);
  const bool wanted = options.external_data == ExternalData::always ||
                      (options.external_data == ExternalData::when_needed && model.store().had_external_data);
  Rope rope;
  if (!wanted) rope = rope_of(written);
  const bool too_large = !wanted && rope.size_bytes > kLargestMessageBytes;
  if (too_large && options.external_data == ExternalData::never) refuse_size(path.string());

  PayloadWriter payloads(model, graph);
  AtomicFile file(path);
  std::optional<AtomicFile> data_file;
  if (wanted || too_large) {
    const fs::path data_path = path.string() + ".data";
    const DataFile data = move_out(written, data_path.filename().string());
    rope = rope_of(written);
    if (rope.size_bytes > kLargestMessageBytes) refuse_size(path.string());
    if (!data.parts.empty()) {
      data_file.emplace(data_path);
      write_data(data, payloads, *data_file);
    }
  }
  write_rope(rope, payloads, [&](std::span<const std::byte> chunk) { file.write(chunk); });
  if (data_file) data_file->commit();
  file.commit();
}

std::string export_model_bytes(const ImportedModel& model, const graph::Graph& graph) {
  const Rope rope = rope_of(write_messages(model, graph));
  if (rope.size_bytes > kLargestMessageBytes) refuse_size("model in memory");
  std::string bytes;
  bytes.reserve(rope.size_bytes);
  PayloadWriter payloads(model, graph);
  write_rope(rope, payloads, [&](std::span<const std::byte> chunk) {
    bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  });
  return bytes;
}

}  // namespace regraft::onnx
