#pragma once

// Internal to core/onnx: large tensor contents stay out of the protobuf messages. A model's bytes are first
// made slim: each large TensorProto.raw_data is replaced by a placeholder that names an entry of a
// PayloadTable. Writing a message does the reverse, so the contents go from the mapped input straight to the
// output.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/types.h"

namespace regraft::onnx {

/// The contents of one tensor: bytes that lie somewhere, or a weight expression to be folded when it is
/// written.
struct Payload {
  std::span<const std::byte> bytes;
  graph::WeightId weight = graph::WeightId::none;
  std::uint64_t size_bytes = 0;
};

/// raw_data shorter than this stays in its message; anything longer in a slim message is a placeholder.
inline constexpr std::size_t kInlineBytes = 256;

class PayloadTable {
 public:
  /// The placeholder to be stored as raw_data.
  std::string add(std::span<const std::byte> bytes);
  std::string add(graph::WeightId weight, std::uint64_t size_bytes);
  static bool is_placeholder(std::string_view raw_data) { return raw_data.size() >= kInlineBytes; }
  const Payload& at(std::string_view placeholder) const;

 private:
  std::string append(const Payload& payload);

  std::deque<Payload> payloads_;
};

/// A copy of a serialised ModelProto with its large raw_data moved into `payloads`, which then points into
/// `model`. Throws OnnxError where the bytes are no protobuf message.
std::string slim_model(std::span<const std::byte> model, PayloadTable& payloads);

/// Serialised bytes in pieces: runs of a slim message, new length prefixes, and payloads in the place of
/// placeholders.
struct Rope {
  struct Piece {
    std::span<const std::byte> bytes;
    graph::WeightId weight = graph::WeightId::none;  // when set: `size_bytes` bytes of the folded weight
    std::uint64_t size_bytes = 0;
  };
  std::deque<std::string> owned;  // the slim message, then the prefixes
  std::vector<Piece> pieces;
  std::uint64_t size_bytes = 0;
};

/// The reverse of slim_model for a serialised message of the given kind.
enum class Message : std::uint8_t;
Rope inflate(std::string slim, Message kind, const PayloadTable& payloads);

}  // namespace regraft::onnx
