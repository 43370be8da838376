#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace regraft::graph {

/// Element types, numbered as in onnx.TensorProto.DataType.
enum class DType : std::uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,  // these have a name here, and are not computed with
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
};

/// "float32", ...; "dtype 27" for those newer than the list.
std::string dtype_name(DType dtype);
/// Bytes an element; 0 for strings, types that are not computed with, and unknown ones.
std::size_t dtype_bytes(DType dtype);
bool is_float(DType dtype);
bool is_integer(DType dtype);

}
