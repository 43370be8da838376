#include "core/exec/runtime/narrow_types.h"

#include <algorithm>
#include <cmath>

namespace regraft::exec {
namespace {

constexpr NarrowType kNarrowTypes[] = {
    {DType::float8e4m3fn, 8, -448, 448, 3, 7},
    {DType::float8e4m3fnuz, 8, -240, 240, 3, 8},
    {DType::float8e5m2, 8, -57344, 57344, 2, 15},
    {DType::float8e5m2fnuz, 8, -57344, 57344, 2, 16},
    {DType::uint4, 4, 0, 15, -1},
    {DType::int4, 4, -8, 7, -1},
    {DType::float4e2m1, 4, -6, 6, 1, 1},
    {DType::float8e8m0, 8, 0x1p-127, 0x1p127, 0, 127},  // powers of two, without sign
    {DType::uint2, 2, 0, 3, -1},
    {DType::int2, 2, -2, 1, -1},
};

/// Without the sign of a zero, which not all types have.
std::uint8_t encode(const NarrowType& type, double value) {
  const double within = std::clamp(type.low > 0 ? std::abs(value) : value, type.low, type.high);
  if (!type.is_float()) return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::nearbyint(within)));
  const double size = std::abs(within);
  const int exponent = std::max(size > 0 ? std::ilogb(size) : 1 - type.bias, 1 - type.bias);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, type.mantissa_bits - exponent)));
  const int code = ((exponent + type.bias - 1) << type.mantissa_bits) + steps;
  return static_cast<std::uint8_t>(code != 0 && within < 0 ? code | 1 << (type.bits - 1) : code);
}

}  // namespace

const NarrowType* narrow_type(DType dtype) {
  const auto* found = std::ranges::find(kNarrowTypes, dtype, &NarrowType::dtype);
  return found == std::end(kNarrowTypes) ? nullptr : found;
}

std::size_t stored_bytes(DType dtype, std::size_t elements) {
  const NarrowType* narrow = narrow_type(dtype);
  return narrow == nullptr ? elements * graph::dtype_bytes(dtype) : (elements * narrow->bits + 7) / 8;
}

std::vector<std::byte> to_narrow(const NarrowType& type, std::span<const double> values) {
  std::vector<std::byte> bytes(stored_bytes(type.dtype, values.size()));
  const std::size_t in_byte = 8 / type.bits;
  const int mask = (1 << type.bits) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = encode(type, values[i]) & mask;
    bytes[i / in_byte] |= static_cast<std::byte>(code << (i % in_byte * type.bits));
  }
  return bytes;
}

}
