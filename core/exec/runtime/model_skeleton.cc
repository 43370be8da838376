#include "core/exec/runtime/model_skeleton.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <span>
#include <string>

#include "core/base/file.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Bytes = std::span<const std::uint8_t>;

/// Calls visit(field number, wire type, contents) for each field; contents of a length-delimited field are
/// its bytes, of another field the tag and value. False when the bytes are no message.
template <typename Visit>
bool for_each_field(Bytes message, Visit visit) {
  if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
  CodedInputStream input(message.data(), static_cast<int>(message.size()));
  while (static_cast<std::size_t>(input.CurrentPosition()) < message.size()) {
    const int start = input.CurrentPosition();
    const std::uint32_t tag = input.ReadTag();
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (tag == 0 || field == 0) return false;
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      std::uint32_t size = 0;
      if (!input.ReadVarint32(&size)) return false;
      const auto contents = static_cast<std::size_t>(input.CurrentPosition());
      if (size > message.size() - contents || !input.Skip(static_cast<int>(size))) return false;
      const auto whole =
          message.subspan(static_cast<std::size_t>(start), contents + size - static_cast<std::size_t>(start));
      if (!visit(field, message.subspan(contents, size), whole)) return false;
    } else {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      const auto whole = message.subspan(static_cast<std::size_t>(start),
                                         static_cast<std::size_t>(input.CurrentPosition() - start));
      if (!visit(field, Bytes{}, whole)) return false;
    }
  }
  return true;
}

bool is_payload(int field) {
  switch (field) {
    case ::onnx::TensorProto::kFloatDataFieldNumber:
    case ::onnx::TensorProto::kInt32DataFieldNumber:
    case ::onnx::TensorProto::kStringDataFieldNumber:
    case ::onnx::TensorProto::kInt64DataFieldNumber:
    case ::onnx::TensorProto::kRawDataFieldNumber:
    case ::onnx::TensorProto::kDoubleDataFieldNumber:
    case ::onnx::TensorProto::kUint64DataFieldNumber:
      return true;
    default:
      return false;
  }
}

bool parse_header(Bytes tensor, std::size_t kept_bytes, ::onnx::TensorProto& header) {
  std::string kept;
  const bool fine = for_each_field(tensor, [&](int field, Bytes, Bytes whole) {
    if (!is_payload(field) || whole.size() <= kept_bytes)
      kept.append(reinterpret_cast<const char*>(whole.data()), whole.size());
    return true;
  });
  return fine && header.ParseFromString(kept);
}

bool parse_graph(Bytes message, std::size_t kept_bytes, ::onnx::GraphProto& graph) {
  std::string rest;
  const bool fine = for_each_field(message, [&](int field, Bytes contents, Bytes whole) {
    if (field == ::onnx::GraphProto::kInitializerFieldNumber)
      return parse_header(contents, kept_bytes, *graph.add_initializer());
    rest.append(reinterpret_cast<const char*>(whole.data()), whole.size());
    return true;
  });
  return fine && graph.MergeFromString(rest);
}

}  // namespace

::onnx::GraphProto read_skeleton(const std::filesystem::path& model, std::size_t kept_bytes) {
  const MappedFile file(model);
  ::onnx::GraphProto graph;
  bool found = false;
  const bool fine =
      for_each_field({reinterpret_cast<const std::uint8_t*>(file.bytes().data()), file.bytes().size()},
                     [&](int field, Bytes contents, Bytes) {
                       if (field != ::onnx::ModelProto::kGraphFieldNumber) return true;
                       found = true;
                       return parse_graph(contents, kept_bytes, graph);
                     });
  if (!fine || !found) {
    throw ExecError("not an ONNX model, or a truncated one", model, "fetch or export the model again");
  }
  return graph;
}

void for_each_node(::onnx::GraphProto& graph, const std::function<void(::onnx::NodeProto&)>& visit) {
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    visit(node);
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_node(*attribute.mutable_g(), visit);
      for (::onnx::GraphProto& body : *attribute.mutable_graphs()) for_each_node(body, visit);
    }
  }
}

}
