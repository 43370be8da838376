#include "core/onnx/protobuf_wire.h"

#include "core/onnx/onnx_error.h"

namespace regraft::onnx {
namespace {

[[noreturn]] void damaged(const char* what) {
  throw OnnxError(what, "", "");
}

}  // namespace

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) damaged("the bytes end inside a number");
    const auto byte = static_cast<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  damaged("a number is longer than 64 bits");
}

void WireReader::skip(std::uint64_t count) {
  if (count > rest_.size()) damaged("the bytes end inside a field");
  rest_ = rest_.subspan(static_cast<std::size_t>(count));
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty()) return std::nullopt;
  const std::span<const std::byte> before = rest_;
  const std::uint64_t tag = varint();
  WireField field;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  if (field.number == 0 || (tag >> 32) != 0) damaged("a field has no valid number");
  switch (field.type) {
    case WireType::varint:
      varint();
      break;
    case WireType::fixed64:
      skip(8);
      break;
    case WireType::fixed32:
      skip(4);
      break;
    case WireType::bytes: {
      const std::uint64_t length = varint();
      const std::span<const std::byte> start = rest_;
      skip(length);
      field.payload = start.first(static_cast<std::size_t>(length));
      break;
    }
    default:
      damaged("a field has an unknown wire type");
  }
  field.whole = before.first(before.size() - rest_.size());
  return field;
}

std::optional<Message> child_message(Message parent, std::uint32_t field) {
  switch (parent) {
    case Message::model:
      if (field == 7) return Message::graph;
      if (field == 20) return Message::training;
      if (field == 25) return Message::function;
      break;
    case Message::training:
      if (field == 1 || field == 2) return Message::graph;
      break;
    case Message::function:
      if (field == 7) return Message::node;
      break;
    case Message::graph:
      if (field == 1) return Message::node;
      if (field == 5) return Message::tensor;
      if (field == 15) return Message::sparse_tensor;
      break;
    case Message::node:
      if (field == 5) return Message::attribute;
      break;
    case Message::attribute:
      if (field == 5 || field == 10) return Message::tensor;
      if (field == 6 || field == 11) return Message::graph;
      if (field == 22 || field == 23) return Message::sparse_tensor;
      break;
    case Message::sparse_tensor:
      if (field == 1 || field == 2) return Message::tensor;
      break;
    case Message::tensor:
      break;
  }
  return std::nullopt;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

}
