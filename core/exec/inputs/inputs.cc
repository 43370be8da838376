#include "core/exec/inputs/inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <tuple>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/narrow_types.h"

namespace regraft::exec {
namespace {

constexpr int kItems = 3;                 // of a sequence
constexpr std::int64_t kUnknownItem = 3;  // the size of one whose dims the model does not say

bool is_mask(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("mask") != std::string::npos;
}

/// 1 or 0 for each element: the first k of each row are 1. Rows are along the last axis; where that has one
/// element, all elements are one row.
std::vector<std::int64_t> draw_mask(const Tensor& tensor, Rng& rng) {
  const std::size_t count = tensor.element_count();
  const bool has_rows = !tensor.dims.empty() && tensor.dims.back() > 1;
  const std::size_t row =
      has_rows ? static_cast<std::size_t>(tensor.dims.back()) : std::max<std::size_t>(1, count);
  std::vector<std::int64_t> values(count, 0);
  for (std::size_t start = 0; start < count; start += row) {
    const std::size_t ones = 1 + rng.below(row);
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(start), ones, 1);
  }
  return values;
}

double lowest(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return -65504;
    case DType::bfloat16:
      return -0x1.FEp127;
    case DType::float32:
      return std::numeric_limits<float>::lowest();
    default:
      return std::numeric_limits<double>::lowest();
  }
}

/// Masks as people write them: 0 where something is seen, and one very negative number elsewhere.
std::vector<double> draw_score_mask(const Tensor& tensor, Rng& rng) {
  const std::array<double, 4> hidden{-std::numeric_limits<double>::infinity(), -1e4, -1e9,
                                     lowest(tensor.dtype)};
  const double blocking = hidden[rng.below(hidden.size())];
  std::vector<double> values;
  for (const std::int64_t seen : draw_mask(tensor, rng)) values.push_back(seen != 0 ? 0 : blocking);
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
      if (const NarrowType* narrow = narrow_type(tensor.dtype)) {
        tensor.bytes = to_narrow(*narrow, std::vector<double>(values.begin(), values.end()));
        return;
      }
      throw ExecError("random inputs of type " + graph::dtype_name(tensor.dtype) + " are not supported",
                      "input " + name, "give the inputs yourself");
  }
}

/// What integers are of which nothing is known: of 8 bits and less the whole type, others small.
InputMeaning unknown_integer(DType dtype) {
  InputMeaning meaning;
  if (dtype == DType::boolean) meaning.high = 2;
  if (dtype == DType::uint8) meaning.high = 256;
  if (dtype == DType::int8) std::tie(meaning.low, meaning.high) = std::pair(-128.0, 128.0);
  if (const NarrowType* narrow = narrow_type(dtype); narrow && !narrow->is_float())
    std::tie(meaning.low, meaning.high) = std::pair(narrow->low, narrow->high + 1);
  return meaning;
}

/// Floats and 32-bit integers are quantised around 0.
InputMeaning zero_point_of(DType dtype) {
  const NarrowType* narrow = narrow_type(dtype);
  const bool small = narrow ? !narrow->is_float() : graph::is_integer(dtype) && dtype != DType::int32;
  if (small) return unknown_integer(dtype);
  InputMeaning meaning;
  meaning.meaning = Meaning::real;
  meaning.high = 0;
  return meaning;
}

/// The dims of a value with its symbols replaced by their sizes.
std::vector<std::int64_t> concrete_dims(const ValueInfo& info, const SymbolSizes& sizes) {
  std::vector<std::int64_t> dims;
  for (const AxisInfo& axis : info.dims) {
    const auto bound = sizes.find(axis.symbol);
    dims.push_back(axis.is_static() ? axis.size : bound == sizes.end() ? 1 : bound->second);
  }
  return dims;
}

}  // namespace

std::vector<Tensor> RandomInputs::draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                       Rng& rng) const {
  std::vector<Tensor> tensors;
  for (const ValueInfo& info : inputs) tensors.push_back(draw_one(info, sizes, rng));
  return tensors;
}

std::string RandomInputs::note() const {
  if (!constant_) return "";
  return "all integers and booleans were " + std::to_string(*constant_) +
         ": the model did not run on others that were tried";
}

std::unique_ptr<InputSource> RandomInputs::positive() const {
  auto positive = std::make_unique<RandomInputs>(meanings_, constant_);
  positive->positive_ = true;
  return positive;
}

std::unique_ptr<InputSource> RandomInputs::unchosen() const {
  InputMeanings others = meanings_;
  bool any = false;
  for (auto& [name, meaning] : others) {
    if (meaning.meaning != Meaning::choice) continue;
    const std::int64_t most = *std::ranges::max_element(meaning.values);
    meaning.values = {most == std::numeric_limits<std::int64_t>::max() ? 0 : most + 1};
    any = true;
  }
  return any && !constant_ ? std::make_unique<RandomInputs>(std::move(others)) : nullptr;
}

Tensor RandomInputs::draw_one(const ValueInfo& info, const SymbolSizes& sizes, Rng& rng) const {
  if (info.container == Container::sequence) {
    ValueInfo item{info.name, info.dtype, info.dims};
    if (item.dims.empty()) item.dims = {{kUnknownItem, ""}};
    Tensor sequence{info.dtype, {}, {}, {}, Container::sequence};
    for (int i = 0; i < kItems; ++i) sequence.items.push_back(draw_one(item, sizes, rng));
    return sequence;
  }
  if (info.container != Container::tensor)
    throw ExecError("a map cannot be drawn", "input " + info.name, "export the model with tensor inputs");
  Tensor tensor{info.dtype, concrete_dims(info, sizes), {}, {}};
  const std::size_t count = tensor.element_count();
  if (info.dtype == DType::string) {
    for (std::size_t i = 0; i < count; ++i) tensor.strings.push_back("text" + std::to_string(rng.below(100)));
    return tensor;
  }
  const auto known = meanings_.find(info.name);
  InputMeaning meaning = known == meanings_.end() ? unknown_integer(info.dtype) : known->second;
  if (meaning.meaning == Meaning::zero_point) meaning = zero_point_of(info.dtype);
  if (meaning.meaning <= Meaning::choice && meaning.meaning != Meaning::score_mask && is_mask(info.name))
    meaning.meaning = Meaning::mask;
  const NarrowType* narrow = narrow_type(info.dtype);
  if (graph::is_float(info.dtype) || (narrow && narrow->is_float()))
    return draw_floats(info, meaning, std::move(tensor), sizes, rng);
  std::vector<std::int64_t> values(count, constant_.value_or(0));
  if (!constant_)
    values =
        meaning.meaning == Meaning::mask ? draw_mask(tensor, rng) : draw_meant(meaning, count, sizes, rng);
  store_integers(tensor, values, info.name);
  return tensor;
}

Tensor RandomInputs::draw_floats(const ValueInfo& info, const InputMeaning& meaning, Tensor tensor,
                                 const SymbolSizes& sizes, Rng& rng) const {
  std::vector<double> values(tensor.element_count());
  switch (meaning.meaning) {
    case Meaning::number:
      std::ranges::generate(values, [&] { return positive_ ? rng.uniform(0, 1) : rng.normal(); });
      break;
    case Meaning::real:
      std::ranges::generate(values, [&] { return rng.uniform(meaning.low, meaning.high); });
      break;
    case Meaning::mask:
      std::ranges::copy(draw_mask(tensor, rng), values.begin());
      break;
    case Meaning::score_mask:
      values = draw_score_mask(tensor, rng);
      break;
    default:
      std::ranges::copy(draw_meant(meaning, values.size(), sizes, rng), values.begin());
  }
  if (graph::is_float(info.dtype)) return from_doubles(info.dtype, tensor.dims, values);
  tensor.bytes = to_narrow(*narrow_type(info.dtype), values);
  return tensor;
}

}
