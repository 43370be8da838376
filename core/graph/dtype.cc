#include "core/graph/dtype.h"

#include <array>

namespace regraft::graph {
namespace {

struct DTypeRow {
  const char* name;
  std::size_t bytes;
};

constexpr std::array<DTypeRow, 27> kDTypes{
    {{"undefined", 0},      {"float32", 4},  {"uint8", 1},        {"int8", 1},           {"uint16", 2},
     {"int16", 2},          {"int32", 4},    {"int64", 8},        {"string", 0},         {"bool", 1},
     {"float16", 2},        {"float64", 8},  {"uint32", 4},       {"uint64", 8},         {"complex64", 8},
     {"complex128", 16},    {"bfloat16", 2}, {"float8e4m3fn", 0}, {"float8e4m3fnuz", 0}, {"float8e5m2", 0},
     {"float8e5m2fnuz", 0}, {"uint4", 0},    {"int4", 0},         {"float4e2m1", 0},     {"float8e8m0", 0},
     {"uint2", 0},          {"int2", 0}}};

}  // namespace

std::string dtype_name(DType dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  return number < kDTypes.size() ? kDTypes[number].name : "dtype " + std::to_string(number);
}

std::size_t dtype_bytes(DType dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  return number < kDTypes.size() ? kDTypes[number].bytes : 0;
}

bool is_float(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint32:
    case DType::uint64:
      return true;
    default:
      return false;
  }
}

}
