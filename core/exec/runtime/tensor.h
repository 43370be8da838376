#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/dtype.h"

namespace regraft::exec {

using graph::DType;

/// What an input or output holds.
enum class Container : std::uint8_t { tensor, sequence, map, nothing };

/// A dense tensor by value: row-major, little-endian elements of `dtype` in `bytes`, or `strings` for
/// DType::string. Or a container with its tensors in `items`: a sequence, or a map (keys, values), with the
/// `dtype` of its elements. Or an absent optional.
struct Tensor {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;
  Container container = Container::tensor;
  std::vector<Tensor> items = {};

  /// Product of the dims; 1 for rank 0.
  std::size_t element_count() const;

  template <typename T>
  static Tensor of(DType dtype, std::vector<std::int64_t> dims, std::span<const T> values) {
    const auto raw = std::as_bytes(values);
    return {dtype, std::move(dims), {raw.begin(), raw.end()}, {}};
  }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  bool operator==(const Tensor&) const = default;
};

/// One axis of a model's input or output: a size, or a symbol (size -1) with its name. An axis whose symbol
/// has no name in the model is called "<value name>.<axis>".
struct AxisInfo {
  std::int64_t size = -1;
  std::string symbol;

  bool is_static() const { return size >= 0; }
  bool operator==(const AxisInfo&) const = default;
};

/// One input or output of a model. Type and dims of a sequence are those of its tensors; of a map, those of
/// its values; of an optional, those of what it may hold.
struct ValueInfo {
  std::string name;
  DType dtype = DType::undefined;
  std::vector<AxisInfo> dims;
  Container container = Container::tensor;

  /// "x: float32[1, batch]", "x: sequence of float32[1, batch]".
  std::string describe() const;
  bool operator==(const ValueInfo&) const = default;
};

/// "float32[2, 3]", "sequence (float32[2], float32[3])".
std::string describe(const Tensor& tensor);

/// The tensor itself, or all tensors in it.
std::vector<const Tensor*> parts_of(const Tensor& tensor);
std::vector<Tensor*> parts_of(Tensor& tensor);

/// Whether both hold tensors of the same types and dims.
bool same_form(const Tensor& a, const Tensor& b);

/// Sizes of symbols by name; a symbol that is not bound counts as 1.
using SymbolSizes = std::map<std::string, std::int64_t>;

/// The elements of a floating tensor as doubles (float16, bfloat16, float32, float64), of what holds some
/// those of all of them, one after another. Throws ExecError for other dtypes.
std::vector<double> to_doubles(const Tensor& tensor);

/// A floating tensor of `dtype` from doubles, rounded to nearest even. Throws ExecError for other dtypes.
Tensor from_doubles(DType dtype, std::vector<std::int64_t> dims, std::span<const double> values);

/// Moves every finite element of a floating tensor to a neighbouring value of its own dtype, up or down at
/// random. Other dtypes stay as they are.
void nudge_one_ulp(Tensor& tensor, Rng& rng);

}
