#include "core/onnx/payload.h"

#include <cstring>

#include "core/onnx/onnx_error.h"
#include "core/onnx/protobuf_wire.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;

constexpr std::size_t kPatchedLengthBytes = 5;  // a length written before it is known, as a padded varint

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_payload_field(Message kind, const WireField& field) {
  return kind == Message::tensor && field.number == kRawDataField && field.type == WireType::bytes;
}

void patch_length(std::string& out, std::size_t at, std::size_t length) {
  if (length >> (7 * kPatchedLengthBytes) != 0) throw OnnxError("a message is larger than 32 GB", "", "");
  for (std::size_t i = 0; i < kPatchedLengthBytes; ++i) {
    const std::size_t more = i + 1 < kPatchedLengthBytes ? 0x80 : 0;
    out[at + i] = static_cast<char>(((length >> (7 * i)) & 0x7F) | more);
  }
}

class PayloadExtractor {
 public:
  PayloadExtractor(std::string& out, PayloadTable& payloads) : out_(out), payloads_(payloads) {}

  void copy(std::span<const std::byte> message, Message kind, int depth) {
    if (depth > kMaxDepth) throw OnnxError("messages nest too deeply", "", "");
    WireReader reader(message);
    while (const auto field = reader.next()) {
      const auto child = field->type == WireType::bytes ? child_message(kind, field->number) : std::nullopt;
      if (child) {
        append_varint(out_, bytes_tag(field->number));
        const std::size_t length_at = out_.size();
        out_.append(kPatchedLengthBytes, '\0');
        copy(field->payload, *child, depth + 1);
        patch_length(out_, length_at, out_.size() - length_at - kPatchedLengthBytes);
      } else if (is_payload_field(kind, *field)) {
        const std::string placeholder = payloads_.add(field->payload);
        append_varint(out_, bytes_tag(kRawDataField));
        append_varint(out_, placeholder.size());
        out_ += placeholder;
      } else {
        out_ += text_of(field->whole);
      }
    }
  }

 private:
  std::string& out_;
  PayloadTable& payloads_;
};

/// Two passes over one slim message in the same order: sizes first, then pieces.
class Inflater {
 public:
  Inflater(MessagePieces& out, const PayloadTable& payloads) : out_(out), payloads_(payloads) {}

  std::uint64_t measure(std::span<const std::byte> message, Message kind, int depth) {
    if (depth > kMaxDepth) throw OnnxError("messages nest too deeply", "", "");
    std::uint64_t size = 0;
    WireReader reader(message);
    while (const auto field = reader.next()) {
      const auto child = field->type == WireType::bytes ? child_message(kind, field->number) : std::nullopt;
      std::uint64_t length = field->payload.size();
      if (child) {
        const std::size_t slot = sizes_.size();
        sizes_.push_back(0);
        length = sizes_[slot] = measure(field->payload, *child, depth + 1);
      } else if (is_payload_field(kind, *field)) {
        length = payloads_.at(text_of(field->payload)).size_bytes;
      } else {
        size += field->whole.size();
        continue;
      }
      size += varint_size(bytes_tag(field->number)) + varint_size(length) + length;
    }
    return size;
  }

  void emit(std::span<const std::byte> message, Message kind) {
    WireReader reader(message);
    while (const auto field = reader.next()) {
      const auto child = field->type == WireType::bytes ? child_message(kind, field->number) : std::nullopt;
      if (child) {
        const std::uint64_t length = sizes_[next_size_++];
        prefix(field->number, length);
        emit(field->payload, *child);
      } else if (is_payload_field(kind, *field)) {
        const Payload& payload = payloads_.at(text_of(field->payload));
        prefix(field->number, payload.size_bytes, payload.literal);
        if (payload.literal.empty())
          out_.pieces.push_back({payload.bytes, payload.weight, payload.size_bytes});
      } else {
        run(field->whole);
      }
    }
  }

 private:
  void prefix(std::uint32_t field, std::uint64_t length, std::string_view literal = {}) {
    std::string& text = out_.owned.emplace_back();
    append_varint(text, bytes_tag(field));
    append_varint(text, length);
    text += literal;
    out_.pieces.push_back({std::as_bytes(std::span(text)), graph::WeightId::none, text.size()});
  }

  void run(std::span<const std::byte> bytes) {
    if (!out_.pieces.empty()) {
      MessagePieces::Piece& last = out_.pieces.back();
      const bool adjoins =
          last.weight == graph::WeightId::none && last.bytes.data() + last.bytes.size() == bytes.data();
      if (adjoins && !last.bytes.empty()) {
        last.bytes = {last.bytes.data(), last.bytes.size() + bytes.size()};
        last.size_bytes += bytes.size();
        return;
      }
    }
    out_.pieces.push_back({bytes, graph::WeightId::none, bytes.size()});
  }

  MessagePieces& out_;
  const PayloadTable& payloads_;
  std::vector<std::uint64_t> sizes_;
  std::size_t next_size_ = 0;
};

}  // namespace

std::string PayloadTable::append(Payload payload) {
  const std::uint64_t at = payloads_.size();
  payloads_.push_back(std::move(payload));
  return {reinterpret_cast<const char*>(&at), sizeof at};
}

std::string PayloadTable::add(std::span<const std::byte> bytes) {
  return append({bytes, {}, graph::WeightId::none, bytes.size()});
}

void PayloadTable::set(pb::TensorProto& tensor, std::span<const std::byte> bytes) {
  tensor.set_raw_data(add(bytes));
}

void PayloadTable::set_copy(pb::TensorProto& tensor, std::span<const std::byte> bytes) {
  tensor.set_raw_data(append({{}, std::string(text_of(bytes)), graph::WeightId::none, bytes.size()}));
}

void PayloadTable::set(pb::TensorProto& tensor, graph::WeightId weight, std::uint64_t size_bytes) {
  tensor.set_raw_data(append({{}, {}, weight, size_bytes}));
}

const Payload& PayloadTable::at(std::string_view placeholder) const {
  std::uint64_t at = payloads_.size();
  if (placeholder.size() == sizeof at) std::memcpy(&at, placeholder.data(), sizeof at);
  if (at >= payloads_.size())
    throw OnnxError("a tensor's contents are in no table", "", "please report this");
  return payloads_[at];
}

std::string slim_model(std::span<const std::byte> model, PayloadTable& payloads) {
  std::string slim;
  PayloadExtractor(slim, payloads).copy(model, Message::model, 0);
  return slim;
}

MessagePieces inflate(std::string slim, Message kind, const PayloadTable& payloads) {
  MessagePieces out;
  const auto bytes = std::as_bytes(std::span(out.owned.emplace_back(std::move(slim))));
  Inflater inflater(out, payloads);
  out.size_bytes = inflater.measure(bytes, kind, 0);
  inflater.emit(bytes, kind);
  return out;
}

}
