#pragma once

// Internal to core/onnx: the protobuf wire format, read without building messages.
// Source: protobuf.dev/programming-guides/encoding; field numbers from onnx/onnx.proto.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace regraft::onnx {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::span<const std::byte> whole;    // the field with its tag
  std::span<const std::byte> payload;  // WireType::bytes: what the length counts
};

/// Walks the fields of one message. Throws OnnxError where the bytes are no message or end too early.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : rest_(message) {}
  std::optional<WireField> next();

 private:
  std::uint64_t varint();
  void skip(std::uint64_t count);

  std::span<const std::byte> rest_;
};

/// The messages on the way from a model to its tensors.
enum class Message : std::uint8_t {
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  function,
  training
};

/// The kind of message that a field holds, or nothing for a field without tensors inside.
std::optional<Message> child_message(Message parent, std::uint32_t field);

inline constexpr std::uint32_t kRawDataField = 9;  // TensorProto.raw_data
/// Messages nest no deeper than protobuf itself allows.
inline constexpr int kMaxDepth = 100;

void append_varint(std::string& out, std::uint64_t value);
std::size_t varint_size(std::uint64_t value);
inline std::uint64_t bytes_tag(std::uint32_t field) {
  return (std::uint64_t{field} << 3) | static_cast<std::uint64_t>(WireType::bytes);
}

}
