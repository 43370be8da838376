#include "core/onnx/tensor_data.h"

#include <bit>
#include <cstring>

#include "core/onnx/onnx_error.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::DType;

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and is used in place");

[[noreturn]] void refuse(const pb::TensorProto& tensor, const std::string& problem) {
  throw OnnxError(problem, "tensor '" + tensor.name() + "'", "the model is damaged");
}

graph::TensorType type_of(const pb::TensorProto& tensor) {
  if (tensor.data_type() < 0 || tensor.data_type() > 255) refuse(tensor, "has no valid data type");
  graph::TensorType type{static_cast<DType>(tensor.data_type()), true, {}};
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0) refuse(tensor, "has a negative dim");
    type.dims.push_back(dim);
  }
  if (!type.element_count()) refuse(tensor, "has more than 2^63 elements");
  return type;
}

template <typename T>
std::span<const std::byte> in_place(const google::protobuf::RepeatedField<T>& field) {
  return std::as_bytes(std::span(field.data(), static_cast<std::size_t>(field.size())));
}

/// The low bytes of each element: int32_data holds int8, bool, float16 bits and so on.
template <typename T>
std::span<const std::byte> narrowed(const google::protobuf::RepeatedField<T>& field,
                                    std::size_t element_bytes, ByteStore& owned) {
  if (element_bytes == sizeof(T)) return in_place(field);
  std::vector<std::byte>& bytes = owned.emplace_back(static_cast<std::size_t>(field.size()) * element_bytes);
  for (int i = 0; i < field.size(); ++i) {
    const T value = field.Get(i);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * element_bytes, &value, element_bytes);
  }
  return bytes;
}

template <typename Texts>
std::span<const std::byte> encode_texts(const Texts& texts, ByteStore& owned) {
  std::vector<std::byte>& bytes = owned.emplace_back();
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    const auto prefix = std::as_bytes(std::span(&length, 1)), body = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), prefix.begin(), prefix.end());
    bytes.insert(bytes.end(), body.begin(), body.end());
  }
  return bytes;
}

std::span<const std::byte> typed_data(const pb::TensorProto& tensor, DType dtype, ByteStore& owned) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      return in_place(tensor.float_data());
    case DType::float64:
    case DType::complex128:
      return in_place(tensor.double_data());
    case DType::int64:
      return in_place(tensor.int64_data());
    case DType::uint64:
    case DType::uint32:
      return narrowed(tensor.uint64_data(), dtype_bytes(dtype), owned);
    case DType::string:
      return encode_texts(tensor.string_data(), owned);
    default:
      return narrowed(tensor.int32_data(), dtype_bytes(dtype) == 0 ? 1 : dtype_bytes(dtype), owned);
  }
}

template <typename T>
TensorView own_values(DType dtype, const std::vector<T>& values, bool scalar, ByteStore& owned) {
  const auto bytes = std::as_bytes(std::span(values));
  TensorView view;
  view.type.dtype = dtype;
  view.type.ranked = true;
  if (!scalar) view.type.dims.push_back(static_cast<graph::Dim>(values.size()));
  view.bytes = owned.emplace_back(bytes.begin(), bytes.end());
  return view;
}

template <typename Texts>
TensorView own_texts(const Texts& texts, bool scalar, ByteStore& owned) {
  TensorView view;
  view.type.dtype = DType::string;
  view.type.ranked = true;
  if (!scalar) view.type.dims.push_back(static_cast<graph::Dim>(texts.size()));
  view.bytes = encode_texts(texts, owned);
  return view;
}

}  // namespace

std::optional<std::uint64_t> raw_size_bytes(const pb::TensorProto& tensor) {
  const graph::TensorType type = type_of(tensor);
  const auto element = static_cast<std::int64_t>(dtype_bytes(type.dtype));
  if (element == 0) return std::nullopt;
  std::int64_t size = 0;
  if (__builtin_mul_overflow(*type.element_count(), element, &size))
    refuse(tensor, "is larger than 2^63 bytes");
  return static_cast<std::uint64_t>(size);
}

TensorView read_tensor(const pb::TensorProto& tensor, const PayloadTable& payloads, ByteStore& owned) {
  TensorView view{type_of(tensor), {}};
  if (tensor.has_segment()) refuse(tensor, "is stored in segments, which no runtime supports");
  if (!tensor.has_raw_data()) {
    view.bytes = typed_data(tensor, view.type.dtype, owned);
  } else {
    view.bytes = payloads.of(tensor).view();
  }
  const auto wanted = raw_size_bytes(tensor);
  if (wanted && *wanted != view.bytes.size())
    refuse(tensor, "holds " + std::to_string(view.bytes.size()) + " bytes where its dims need " +
                       std::to_string(*wanted));
  return view;
}

std::optional<TensorView> read_constant(const pb::NodeProto& node, const PayloadTable& payloads,
                                        ByteStore& owned) {
  if (node.attribute_size() != 1 || node.output_size() != 1 || node.input_size() != 0) return std::nullopt;
  const pb::AttributeProto& attribute = node.attribute(0);
  const std::string& name = attribute.name();
  if (!attribute.ref_attr_name().empty()) return std::nullopt;
  if (name == "value" && attribute.has_t()) return read_tensor(attribute.t(), payloads, owned);
  if (name == "value_float")
    return own_values(DType::float32, std::vector<float>{attribute.f()}, true, owned);
  if (name == "value_int")
    return own_values(DType::int64, std::vector<std::int64_t>{attribute.i()}, true, owned);
  if (name == "value_floats") {
    const std::vector<float> values(attribute.floats().begin(), attribute.floats().end());
    return own_values(DType::float32, values, false, owned);
  }
  if (name == "value_ints") {
    const std::vector<std::int64_t> values(attribute.ints().begin(), attribute.ints().end());
    return own_values(DType::int64, values, false, owned);
  }
  if (name == "value_string") return own_texts(std::vector<std::string>{attribute.s()}, true, owned);
  if (name == "value_strings") return own_texts(attribute.strings(), false, owned);
  return std::nullopt;
}

}
