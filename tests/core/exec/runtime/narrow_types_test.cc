#include "core/exec/runtime/narrow_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::ElementsAre;
using testing::ModelBuilder;
using testing::TempFolder;

constexpr DType kNarrow[] = {
    DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz, DType::uint4,
    DType::int4,         DType::float4e2m1,     DType::float8e8m0, DType::uint2,          DType::int2};

/// y = x as `to`.
ModelBuilder cast(int count, int from, int to) {
  ModelBuilder model;
  model.opset(25).input("x", {count}, from).output("y", {count}, to);
  testing::set_int(model.node("Cast", {"x"}, {"y"}), "to", to);
  return model;
}

std::vector<double> some_values(DType dtype) {
  const NarrowType& type = *narrow_type(dtype);
  if (!type.is_float()) return {type.low, type.high, 0, 1, type.low + 1};
  if (type.low > 0) return {0.25, 0.5, 1, 2, 0x1p-100, 0x1p100};  // how others are rounded is an attribute
  std::vector<double> values;
  for (const double value :
       {0.0, 1.0, 0.5, 3.0, 1.7, 0.26, 2.4375, 6.0, 0.0023, 0.013, 100.0, 1.0625, 1.1875})
    for (const double sign : {1.0, -1.0})
      if (value <= type.high && (value > 0 || sign > 0)) values.push_back(sign * value);
  values.push_back(type.high * 0.999);
  return values;
}

/// Against the runtime's own conversion.
TEST(NarrowTypes, AreWrittenAsTheRuntimeDoes) {
  const TempFolder folder;
  int compared = 0;
  for (const DType dtype : kNarrow) {
    const std::vector<double> values = some_values(dtype);
    const auto count = static_cast<int>(values.size());
    try {
      OrtSession session(
          cast(count, ::onnx::TensorProto::FLOAT, static_cast<int>(dtype)).write(folder / "m.onnx"));
      const Tensor x = from_doubles(DType::float32, {count}, values);
      const Tensor y = session.run({&x, 1}).at(0);
      EXPECT_EQ(y.dtype, dtype);
      EXPECT_EQ(y.bytes, to_narrow(*narrow_type(dtype), values)) << graph::dtype_name(dtype);
      ++compared;
    } catch (const ExecError& error) {  // not every runtime knows the newest
      EXPECT_GE(dtype, DType::float4e2m1) << error.what();
    }
  }
  EXPECT_GE(compared, 6);
}

TEST(NarrowTypes, WhatIsTooLargeBecomesTheLargest) {
  const auto code = [](DType dtype, double value) {
    return std::to_integer<int>(to_narrow(*narrow_type(dtype), std::vector{value}).at(0));
  };
  EXPECT_EQ(code(DType::float8e4m3fn, 1e6), 0x7E);
  EXPECT_EQ(code(DType::float8e4m3fnuz, -1e6), 0xFF);
  EXPECT_EQ(code(DType::float8e5m2, 1e6), 0x7B);
  EXPECT_EQ(code(DType::float8e5m2fnuz, 1e6), 0x7F);
  EXPECT_EQ(code(DType::int4, -100), 0x08);
  EXPECT_EQ(code(DType::float4e2m1, 100), 0x07);
  EXPECT_EQ(code(DType::float8e8m0, 4), 129);
  EXPECT_EQ(code(DType::float8e4m3fnuz, -1e-9), 0) << "it has no zero with a sign: that is NaN";
}

TEST(NarrowTypes, ShareBytesTheFirstInTheLowestBits) {
  const std::vector<double> values{1, -1, 7};
  EXPECT_THAT(to_narrow(*narrow_type(DType::int4), values), ElementsAre(std::byte{0xF1}, std::byte{0x07}));
  EXPECT_EQ(stored_bytes(DType::int4, 3), 2u);
  EXPECT_EQ(stored_bytes(DType::uint2, 5), 2u);
  EXPECT_EQ(stored_bytes(DType::float32, 3), 12u);
  EXPECT_EQ(stored_bytes(DType::float8e5m2, 3), 3u);
  EXPECT_EQ(narrow_type(DType::int8), nullptr);
}

}  // namespace
}
