#include "core/exec/kernels/calibrate_machine.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/file.h"
#include "core/base/stats.h"
#include "core/exec/inputs/find_feed.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"

namespace regraft::exec {
namespace {

std::vector<cost::KernelSample> calibration_of(cost::KernelDatabase& database,
                                               const std::string& fingerprint) {
  std::vector<cost::KernelSample> samples = database.read(fingerprint);
  std::erase_if(samples, [](const cost::KernelSample& sample) {
    return sample.source != cost::KernelSource::calibration;
  });
  return samples;
}

/// Whether all kernels of a model were measured.
bool all_measured(const std::filesystem::path& model, const cost::DeviceProfile& device,
                  std::span<const cost::KernelSample> measured) {
  const onnx::ImportedModel imported = onnx::import_model(model);
  graph::Graph graph = imported.graph();
  rules::clean_up_as_runtimes(graph);
  const graph::Bindings bindings;
  return std::ranges::all_of(
      cost::AnalyticCost(device, bindings, graph).kernels(), [&](const cost::PredictedKernel& kernel) {
        return kernel.view ||
               std::ranges::find(measured, kernel.features, &cost::KernelSample::features) != measured.end();
      });
}

double log_error(double measured, double predicted) {
  return std::abs(std::log2(measured / predicted));
}

}  // namespace

CalibrationResult calibrate_machine(const std::vector<GridKernel>& grid, const cost::DeviceProfile& device,
                                    const std::string& fingerprint, cost::KernelDatabase& database,
                                    const CalibrationOptions& options, const Clock& clock,
                                    const std::function<void(std::size_t)>& progress) {
  const std::int64_t end =
      clock.steady_ns() + static_cast<std::int64_t>(options.budget_s * nanoseconds_per_second);
  const std::vector<cost::KernelSample> before = calibration_of(database, fingerprint);
  const TempDir folder;
  const std::filesystem::path model = folder.path() / "kernels.onnx";
  CalibrationResult result;
  for (std::size_t at = 0; at < grid.size() && clock.steady_ns() < end; progress(at)) {
    at = write_kernels(grid, at, options.most_model_bytes, model);
    if (all_measured(model, device, before)) continue;
    const ProfileOptions profile{
        .threads = options.threads, .budget_s = options.kernel_s, .most_other_load = options.most_other_load};
    const Feed feed = find_feed(model, {.several = false});
    const KernelLists lists = compare_kernels(model, feed, device, profile);
    std::vector<cost::KernelSample> samples = lists.samples();
    if (lists.profile.disturbed) {
      result.disturbed += samples.size();
      continue;
    }
    for (cost::KernelSample& sample : samples) sample.source = cost::KernelSource::calibration;
    database.write(fingerprint, samples);
  }
  result.samples = calibration_of(database, fingerprint);
  return result;
}

std::vector<KernelKindFit> fit_by_kind(std::span<const cost::KernelSample> samples) {
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < samples.size(); ++i) kinds[samples[i].features.kernel_kind()].push_back(i);
  std::vector<KernelKindFit> fits;
  for (const auto& [kind, members] : kinds) {
    std::vector<double> factors, rates, learned;
    for (const std::size_t i : members) {
      std::vector<cost::KernelSample> others;
      for (const std::size_t other : members)
        if (other != i) others.push_back(samples[other]);
      const double factor = cost::MeasuredKernels(others).factor(samples[i].features);
      factors.push_back(samples[i].measured_us / samples[i].analytic_us);
      rates.push_back(log_error(samples[i].measured_us, samples[i].analytic_us));
      learned.push_back(log_error(samples[i].measured_us, samples[i].analytic_us * factor));
    }
    fits.push_back({kind, members.size(), median(factors), median(rates), median(learned)});
  }
  std::ranges::stable_sort(fits, std::greater<>(), &KernelKindFit::kernels);
  return fits;
}

}
