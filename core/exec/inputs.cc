#include "core/exec/inputs.h"

#include <algorithm>
#include <cctype>

#include "core/exec/exec_error.h"

namespace regraft::exec {
namespace {

constexpr IntegerRange kDefaultRange{0, 8};

bool is_mask(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("mask") != std::string::npos;
}

/// 1 or 0 for each element: the first k of each row are 1.
std::vector<std::int64_t> draw_mask(const Tensor& tensor, Rng& rng) {
  const std::size_t count = tensor.element_count();
  const std::size_t row =
      tensor.dims.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(tensor.dims.back()));
  std::vector<std::int64_t> values(count, 0);
  for (std::size_t start = 0; start < count; start += row) {
    const std::size_t ones = 1 + rng.below(row);
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(start), ones, 1);
  }
  return values;
}

std::vector<std::int64_t> draw_integers(std::size_t count, const IntegerRange& range, Rng& rng) {
  std::vector<std::int64_t> values(count);
  const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(1, range.high - range.low));
  for (std::int64_t& value : values) value = range.low + static_cast<std::int64_t>(rng.below(width));
  return values;
}

template <typename T>
void store(Tensor& tensor, std::span<const std::int64_t> values) {
  tensor.bytes.resize(values.size() * sizeof(T));
  std::transform(values.begin(), values.end(), tensor.as<T>().begin(),
                 [](std::int64_t v) { return static_cast<T>(v); });
}

void store_integers(Tensor& tensor, std::span<const std::int64_t> values, const std::string& name) {
  switch (tensor.dtype) {
    case DType::boolean:
    case DType::uint8:
      return store<std::uint8_t>(tensor, values);
    case DType::int8:
      return store<std::int8_t>(tensor, values);
    case DType::uint16:
      return store<std::uint16_t>(tensor, values);
    case DType::int16:
      return store<std::int16_t>(tensor, values);
    case DType::uint32:
      return store<std::uint32_t>(tensor, values);
    case DType::int32:
      return store<std::int32_t>(tensor, values);
    case DType::uint64:
      return store<std::uint64_t>(tensor, values);
    case DType::int64:
      return store<std::int64_t>(tensor, values);
    default:
      throw ExecError("random inputs of type " + graph::dtype_name(tensor.dtype) + " are not supported",
                      "input " + name, "give the inputs yourself");
  }
}

IntegerRange type_range(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return {0, 2};
    case DType::uint8:
      return {0, 256};
    case DType::int8:
      return {-128, 128};
    default:
      return kDefaultRange;
  }
}

}  // namespace

std::vector<std::int64_t> concrete_dims(const ValueInfo& info, const SymbolSizes& sizes) {
  std::vector<std::int64_t> dims;
  for (const AxisInfo& axis : info.dims) {
    const auto bound = sizes.find(axis.symbol);
    dims.push_back(axis.is_static() ? axis.size : bound == sizes.end() ? 1 : bound->second);
  }
  return dims;
}

std::vector<Tensor> RandomInputs::draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                       Rng& rng) const {
  std::vector<Tensor> tensors;
  for (const ValueInfo& info : inputs) tensors.push_back(draw_one(info, sizes, rng));
  return tensors;
}

Tensor RandomInputs::draw_one(const ValueInfo& info, const SymbolSizes& sizes, Rng& rng) const {
  Tensor tensor{info.dtype, concrete_dims(info, sizes), {}, {}};
  const std::size_t count = tensor.element_count();
  if (info.dtype == DType::string) {
    for (std::size_t i = 0; i < count; ++i) tensor.strings.push_back("text" + std::to_string(rng.below(100)));
    return tensor;
  }
  if (graph::is_float(info.dtype)) {
    std::vector<double> values(count);
    if (is_mask(info.name)) {
      std::ranges::copy(draw_mask(tensor, rng), values.begin());
    } else {
      std::ranges::generate(values, [&] { return rng.normal(); });
    }
    return from_doubles(info.dtype, tensor.dims, values);
  }
  const auto range = ranges_.find(info.name);
  const IntegerRange bounds = range == ranges_.end() ? type_range(info.dtype) : range->second;
  store_integers(tensor, is_mask(info.name) ? draw_mask(tensor, rng) : draw_integers(count, bounds, rng),
                 info.name);
  return tensor;
}

}  // namespace regraft::exec
