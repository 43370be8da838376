#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/kernel_features.h"

namespace regraft::cost {

/// Where a kernel was measured. The same small kernel may take several times as long in another model, as
/// where other work has taken its data out of the caches.
enum class KernelSource : std::uint8_t {
  this_model,
  unsized,  // in this model, of sizes that are not known: it says nothing to others
  calibration,
  other_model,
};

constexpr std::array<std::string_view, 4> enum_names(KernelSource) {
  return {"this_model", "unsized", "calibration", "other_model"};
}

/// A kernel that was measured, beside what the device's rates say of it.
struct KernelSample {
  KernelFeatures features;
  double analytic_us = 0, measured_us = 0;
  KernelSource source = KernelSource::this_model;

  bool operator==(const KernelSample&) const = default;
};

/// What measurements correct of the rates of a device: how many times as long a kernel takes as they say.
///
/// The logarithm of the factor is a mean over the measured kernels of the same kind (Shepard's inverse
/// distance weighting over the logarithms of the sizes). So a kernel that was measured has its own factor,
/// and others have those of the kernels that are most like them. Kernels of a few us are trusted less, since
/// the runtime's profile counts whole us. Far from what was measured the factor goes to that of all dense
/// kernels, or of all others.
///
/// What was measured in other models counts for the same kernel, where this model has it not. For others of a
/// kind of which this model has none it may only lower the factor. A kernel that is thought too slow is never
/// tried, while one that is thought too fast is tried and measured. Safe to read from many threads.
class MeasuredKernels {
 public:
  explicit MeasuredKernels(std::span<const KernelSample> samples);

  /// Within [2^-10, 2^10]; 1 where nothing was measured.
  double factor(const KernelFeatures& features) const;
  bool empty() const { return kinds_.empty(); }

 private:
  using Place = std::array<double, KernelFeatures::kSizes>;  // log2 of the sizes
  struct Point {
    Place place{};
    double log_factor = 0, trust = 0;
  };
  struct Kind {
    std::vector<Point> here, elsewhere;  // in this model or a calibration; in other models
  };
  struct Mean {
    double sum = 0, weight = 0;
    void add(double value, double times);
    double value() const { return weight > 0 ? sum / weight : 0; }
  };
  using Sizes = decltype(KernelFeatures::sizes);
  static Place place_of(const Sizes& sizes);
  /// The points' mean as it is at a place, by inverse distance.
  static void add_near(std::span<const Point> points, const Place& place, double farthest, Mean& mean);

  std::map<std::string, Kind> kinds_;
  std::array<Mean, 2> all_;  // of kernels that are not dense, and of those that are
};

}
