#pragma once

// Internal to core/onnx: tensor contents stay out of the protobuf messages. A model's bytes are first made
// slim: each TensorProto.raw_data is replaced by a placeholder that names an entry of a PayloadTable. Writing
// a message does the reverse, so the contents go from the mapped input straight to the output. In a slim
// message every raw_data is a placeholder, whatever the size of the contents: only a PayloadTable sets and
// reads it.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/types.h"

namespace regraft::onnx {

/// The contents of one tensor: bytes that lie in the input, a constant made by a rewrite, or a weight
/// expression to be folded when it is written.
struct Payload {
  std::span<const std::byte> bytes;
  std::string literal;
  graph::WeightId weight = graph::WeightId::none;
  std::uint64_t size_bytes = 0;

  /// What is there already; nothing for a weight expression.
  std::span<const std::byte> view() const {
    return literal.empty() ? bytes : std::as_bytes(std::span(literal));
  }
};

class PayloadTable {
 public:
  /// The placeholder of bytes that outlive the table.
  std::string add(std::span<const std::byte> bytes);
  /// These give a tensor of a slim message its contents: bytes that outlive the table, a copy of bytes, a
  /// weight.
  void set(::onnx::TensorProto& tensor, std::span<const std::byte> bytes);
  void set_copy(::onnx::TensorProto& tensor, std::span<const std::byte> bytes);
  void set(::onnx::TensorProto& tensor, graph::WeightId weight, std::uint64_t size_bytes);
  /// The payload of a tensor with raw_data, or of that raw_data.
  const Payload& of(const ::onnx::TensorProto& tensor) const { return at(tensor.raw_data()); }
  const Payload& at(std::string_view placeholder) const;

 private:
  std::string append(Payload payload);

  std::deque<Payload> payloads_;
};

/// A copy of a serialised ModelProto with all raw_data moved into `payloads`, which then points into `model`.
/// Throws OnnxError where the bytes are no protobuf message.
std::string slim_model(std::span<const std::byte> model, PayloadTable& payloads);

/// Serialised bytes in pieces: runs of a slim message, new length prefixes, and payloads in the place of
/// placeholders.
struct MessagePieces {
  struct Piece {
    std::span<const std::byte> bytes;
    graph::WeightId weight = graph::WeightId::none;  // when set: `size_bytes` bytes of the folded weight
    std::uint64_t size_bytes = 0;
  };
  std::deque<std::string> owned;  // the slim message, then the prefixes, with literals
  std::vector<Piece> pieces;
  std::uint64_t size_bytes = 0;
};

/// The reverse of slim_model for a serialised message of the given kind.
enum class Message : std::uint8_t;
MessagePieces inflate(std::string slim, Message kind, const PayloadTable& payloads);

}
