#include "core/graph/host_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace regraft::graph {
namespace {

/// A binary floating format with a sign bit, an IEEE exponent and `mantissa` stored bits.
struct SmallFormat {
  int mantissa, bias, max_exponent;
};
constexpr SmallFormat kHalf{10, 15, 31}, kBrainHalf{7, 127, 255};

/// Nearest even, straight from the double, so that nothing is rounded twice.
std::uint16_t encode(double value, const SmallFormat& format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << 15);
  const int exponent_at = format.mantissa;
  const auto infinity = static_cast<std::uint16_t>(format.max_exponent << exponent_at);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (exponent_at - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  if (exponent < -200) return sign;  // doubles this small, denormals included, round to zero
  const int lowest = 1 - format.bias;
  int drop = 52 - format.mantissa;
  if (exponent < lowest) drop += lowest - exponent;  // denormal in the small format
  if (drop > 54) return sign;
  const std::uint64_t kept = mantissa >> drop, rest = mantissa & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  // `rounded` holds the implicit bit where the number is normal; a carry runs into the exponent by itself.
  const std::uint64_t base =
      exponent < lowest ? 0 : static_cast<std::uint64_t>(exponent + format.bias - 1) << exponent_at;
  const std::uint64_t encoded = base + rounded;
  return static_cast<std::uint16_t>(sign | (encoded >= infinity ? infinity : encoded));
}

double decode(std::uint16_t bits, const SmallFormat& format) {
  const int exponent = (bits & 0x7FFF) >> format.mantissa;
  const double mantissa = bits & ((1 << format.mantissa) - 1);
  const double scale = 1 << format.mantissa;
  double value = 0;
  if (exponent == format.max_exponent)
    value =
        mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa / scale, 1 - format.bias);
  else
    value = std::ldexp(1 + mantissa / scale, exponent - format.bias);
  return bits & 0x8000 ? -value : value;
}

template <typename T, typename To>
void read_as(std::span<const std::byte> bytes, std::vector<To>& out) {
  out.resize(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<To>(value);
  }
}

template <typename T, typename From, typename Convert>
std::vector<std::byte> write_as(const std::vector<From>& values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<std::byte> write_integers(const std::vector<std::int64_t>& values) {
  return write_as<T>(values, [](std::int64_t value) { return static_cast<T>(value); });
}

[[noreturn]] void refuse_dtype(DType dtype) {
  throw GraphError("constants of type " + dtype_name(dtype) + " are not computed with", "evaluate", "");
}

}  // namespace

std::int64_t wrap(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::int8:
      return static_cast<std::int8_t>(value);
    case DType::uint8:
      return static_cast<std::uint8_t>(value);
    case DType::int16:
      return static_cast<std::int16_t>(value);
    case DType::uint16:
      return static_cast<std::uint16_t>(value);
    case DType::int32:
      return static_cast<std::int32_t>(value);
    case DType::uint32:
      return static_cast<std::uint32_t>(value);
    case DType::boolean:
      return value != 0;
    default:
      return value;
  }
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::float32:
      return static_cast<double>(static_cast<float>(value));
    case DType::float16:
      return decode(encode(value, kHalf), kHalf);
    case DType::bfloat16:
      return decode(encode(value, kBrainHalf), kBrainHalf);
    default:
      return value;
  }
}

std::vector<std::byte> HostTensor::to_bytes() const {
  switch (dtype) {
    case DType::float32:
      return write_as<float>(real, [](double value) { return static_cast<float>(value); });
    case DType::float64:
      return write_as<double>(real, [](double value) { return value; });
    case DType::float16:
      return write_as<std::uint16_t>(real, [](double value) { return encode(value, kHalf); });
    case DType::bfloat16:
      return write_as<std::uint16_t>(real, [](double value) { return encode(value, kBrainHalf); });
    case DType::boolean:
      return write_as<std::uint8_t>(integer,
                                    [](std::int64_t value) { return static_cast<std::uint8_t>(value != 0); });
    case DType::int8:
    case DType::uint8:
      return write_integers<std::uint8_t>(integer);
    case DType::int16:
    case DType::uint16:
      return write_integers<std::uint16_t>(integer);
    case DType::int32:
    case DType::uint32:
      return write_integers<std::uint32_t>(integer);
    case DType::int64:
    case DType::uint64:
      return write_integers<std::uint64_t>(integer);
    default:
      refuse_dtype(dtype);
  }
}

HostTensor HostTensor::from_bytes(const TensorType& type, std::span<const std::byte> bytes) {
  HostTensor tensor;
  tensor.dtype = type.dtype;
  tensor.dims.assign(type.dims.begin(), type.dims.end());
  const auto count = type.element_count();
  if (!count || static_cast<std::uint64_t>(*count) * dtype_bytes(type.dtype) != bytes.size())
    throw GraphError("dims and contents of a constant do not fit", "evaluate", "");
  switch (type.dtype) {
    case DType::float32:
      read_as<float>(bytes, tensor.real);
      break;
    case DType::float64:
      read_as<double>(bytes, tensor.real);
      break;
    case DType::float16:
    case DType::bfloat16: {
      const SmallFormat& format = type.dtype == DType::float16 ? kHalf : kBrainHalf;
      read_as<std::uint16_t>(bytes, tensor.real);
      for (double& value : tensor.real) value = decode(static_cast<std::uint16_t>(value), format);
      break;
    }
    case DType::boolean:
      read_as<std::uint8_t>(bytes, tensor.integer);
      for (std::int64_t& value : tensor.integer) value = value != 0;
      break;
    case DType::int8:
      read_as<std::int8_t>(bytes, tensor.integer);
      break;
    case DType::uint8:
      read_as<std::uint8_t>(bytes, tensor.integer);
      break;
    case DType::int16:
      read_as<std::int16_t>(bytes, tensor.integer);
      break;
    case DType::uint16:
      read_as<std::uint16_t>(bytes, tensor.integer);
      break;
    case DType::int32:
      read_as<std::int32_t>(bytes, tensor.integer);
      break;
    case DType::uint32:
      read_as<std::uint32_t>(bytes, tensor.integer);
      break;
    case DType::int64:
    case DType::uint64:
      read_as<std::int64_t>(bytes, tensor.integer);
      break;
    default:
      refuse_dtype(type.dtype);
  }
  return tensor;
}

}
