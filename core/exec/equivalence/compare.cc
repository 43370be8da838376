#include "core/exec/equivalence/compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace regraft::exec {
namespace {

// Numbers that hide places are about the same one, far from what is seen.
constexpr double kLeastHidden = 9e3, kApart = 100, kOfOneNumber = 0.1;
constexpr std::ptrdiff_t kLeastSeen = 4;

Difference refused(std::string problem) {
  return {Difference::kUnbounded, std::move(problem)};
}

bool same_special(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b;
}

Difference compare_floats(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = to_doubles(a);
  const std::vector<double> right = to_doubles(b);
  const double scale = scale_of(left);
  double error = 0, largest_right = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!std::isfinite(left[i]) || !std::isfinite(right[i])) {
      if (same_special(left[i], right[i])) continue;
      return refused("element " + std::to_string(i) + " is " + std::to_string(left[i]) + " in one and " +
                     std::to_string(right[i]) + " in the other");
    }
    if (scale > 0) error = std::max(error, std::abs(left[i] - right[i]) / std::max(scale, std::abs(left[i])));
    largest_right = std::max(largest_right, std::abs(right[i]));
  }
  return {scale > 0 ? error : largest_right, ""};
}

/// The largest difference of two items, or the first problem.
Difference compare_items(const Tensor& a, const Tensor& b) {
  Difference largest;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    Difference difference = compare(a.items[i], b.items[i]);
    if (!difference.problem.empty()) return refused("item " + std::to_string(i) + ": " + difference.problem);
    largest.relative_error = std::max(largest.relative_error, difference.relative_error);
  }
  return largest;
}

}  // namespace

double scale_of(std::span<const double> values) {
  std::vector<double> magnitudes;
  for (const double value : values)
    if (std::isfinite(value) && value != 0) magnitudes.push_back(std::abs(value));
  if (magnitudes.empty()) return 0;
  const double largest = *std::ranges::max_element(magnitudes);
  if (largest < kLeastHidden) return largest;
  std::ranges::sort(magnitudes);
  const auto hidden = std::ranges::lower_bound(magnitudes, largest * (1 - kOfOneNumber));
  const bool apart = hidden - magnitudes.begin() >= kLeastSeen && *hidden > kApart * *(hidden - 1);
  return apart ? *(hidden - 1) : largest;
}

Difference compare(const Tensor& a, const Tensor& b) {
  if (!same_form(a, b)) return refused(describe(a) + " against " + describe(b));
  if (a.container != Container::tensor) return compare_items(a, b);
  if (graph::is_float(a.dtype)) return compare_floats(a, b);
  if (a.dtype == DType::string) {
    const auto at = std::ranges::mismatch(a.strings, b.strings);
    if (at.in1 == a.strings.end()) return {};
    return refused("strings differ at element " + std::to_string(at.in1 - a.strings.begin()));
  }
  const auto at = std::ranges::mismatch(a.bytes, b.bytes);
  if (at.in1 == a.bytes.end()) return {};
  const std::size_t element =
      static_cast<std::size_t>(at.in1 - a.bytes.begin()) * a.element_count() / a.bytes.size();
  return refused(graph::dtype_name(a.dtype) + " values differ at element " + std::to_string(element));
}

}
