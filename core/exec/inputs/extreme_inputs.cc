#include "core/exec/inputs/extreme_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace regraft::exec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostMasks = 2;

struct FloatRange {
  double lowest, tiny, huge;
};

FloatRange range_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return {-65504, 0x1p-14, 0x1p10};
    case DType::bfloat16:
      return {-0x1.FEp127, 1e-30, 1e25};
    case DType::float64:
      return {std::numeric_limits<double>::lowest(), 1e-300, 1e200};
    default:
      return {std::numeric_limits<float>::lowest(), 1e-30, 1e25};
  }
}

/// Every other row is masked here and there, the others wholly, each with the next number.
void make_mask(const Tensor& like, std::span<const double> numbers, Rng& rng, std::vector<double>& values) {
  const std::size_t row =
      like.dims.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(like.dims.back()));
  const std::size_t first = rng.below(2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t r = i / row + first;
    const bool masked = r % 2 == 1 || (row > 1 && rng.below(3) == 0);
    values[i] = masked ? numbers[r / 2 % numbers.size()] : 0;
  }
}

void make_extreme(const ExtremeDraw& draw, std::size_t input, const Tensor& like, Rng& rng,
                  std::vector<double>& values) {
  const FloatRange range = range_of(like.dtype);
  const auto scale = [&](double factor) {
    for (double& value : values) value *= factor;
  };
  const auto set_one = [&](double number) {
    if (input == draw.input && !values.empty()) values[rng.below(values.size())] = number;
  };
  switch (draw.kind) {
    case Extreme::zeros:
      std::ranges::fill(values, 0);
      return;
    case Extreme::equal:
      std::ranges::fill(values, 0.75);
      return;
    case Extreme::tiny:
      return scale(range.tiny);
    case Extreme::large:
      return scale(std::min(1e4, range.huge));
    case Extreme::huge:
      return scale(range.huge);
    case Extreme::mask:
    case Extreme::infinite_mask:
      if (input == draw.input && draw.kind == Extreme::mask)
        make_mask(like, std::array{std::max(-1e9, range.lowest), range.lowest, -1e4}, rng, values);
      else if (input == draw.input)
        make_mask(like, std::array{-kInfinity}, rng, values);
      return;
    case Extreme::infinity:
      return set_one(rng.below(2) == 0 ? kInfinity : -kInfinity);
    case Extreme::nan:
      return set_one(std::numeric_limits<double>::quiet_NaN());
  }
}

/// Elements, a symbol counted as 1.
double least_size(const ValueInfo& input) {
  return std::accumulate(input.dims.begin(), input.dims.end(), 1.0, [](double n, const AxisInfo& axis) {
    return n * (axis.is_static() ? static_cast<double>(axis.size) : 1);
  });
}

}  // namespace

std::string ExtremeDraw::label(std::span<const ValueInfo> inputs) const {
  switch (kind) {
    case Extreme::zeros:
      return "all floats zero";
    case Extreme::equal:
      return "all floats equal";
    case Extreme::tiny:
      return "tiny floats";
    case Extreme::large:
      return "large floats";
    case Extreme::huge:
      return "huge floats";
    case Extreme::mask:
      return inputs[input].name + " is a mask";
    case Extreme::infinite_mask:
      return inputs[input].name + " is a mask of -inf";
    case Extreme::infinity:
      return "an infinity in " + inputs[input].name;
    case Extreme::nan:
      return "a NaN in " + inputs[input].name;
  }
  return "";
}

std::vector<ExtremeDraw> extreme_draws(std::span<const ValueInfo> inputs, bool finite) {
  std::vector<std::size_t> floats;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (graph::is_float(inputs[i].dtype)) floats.push_back(i);
  if (floats.empty()) return {};
  const auto size = [&](std::size_t i) { return least_size(inputs[i]); };
  std::ranges::stable_sort(floats, {}, size);  // masks are small
  const std::size_t largest = floats.back();
  std::vector<std::size_t> masks;
  for (const std::size_t i : floats) {
    const bool may_be = inputs[i].name.find("mask") != std::string::npos || size(i) < size(largest);
    if (may_be && masks.size() < kMostMasks) masks.push_back(i);
  }
  std::vector<ExtremeDraw> draws;
  for (const Extreme kind : {Extreme::zeros, Extreme::equal, Extreme::tiny, Extreme::large})
    draws.push_back({kind});
  for (const std::size_t input : masks) draws.push_back({Extreme::mask, input});
  if (finite) return draws;
  for (const std::size_t input : masks) draws.push_back({Extreme::infinite_mask, input});
  for (const Extreme kind : {Extreme::huge, Extreme::infinity, Extreme::nan})
    draws.push_back({kind, largest});
  return draws;
}

std::vector<Tensor> ExtremeInputs::draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                        Rng& rng) const {
  std::vector<Tensor> tensors = source_.draw(inputs, sizes, rng);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (Tensor* part : parts_of(tensors[i])) {
      if (!graph::is_float(part->dtype)) continue;
      std::vector<double> values = to_doubles(*part);
      make_extreme(draw_, i, *part, rng, values);
      *part = from_doubles(part->dtype, part->dims, values);
    }
  }
  return tensors;
}

}
