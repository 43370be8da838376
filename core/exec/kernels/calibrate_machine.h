#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/other_load.h"
#include "core/cost/kernel_database.h"
#include "core/exec/kernels/kernel_grid.h"
#include "core/exec/kernels/kernel_lists.h"

namespace regraft::exec {

/// How well the kernels of one kind are predicted.
struct KernelKindFit {
  std::string kind;
  std::size_t kernels = 0;
  double factor = 1;         // measured / predicted by the rates, the median
  double rates_error = 0;    // the median of |log2(measured / predicted)|, by the rates alone
  double learned_error = 0;  // the same where each kernel is predicted from the other ones
};

struct CalibrationOptions {
  double budget_s = 600;
  double kernel_s = 0.5;           // of profiled runs of one model of kernels
  double most_model_bytes = 64e6;  // of its tensors
  int threads = 1;
  double most_other_load = disturbing_processors();  // what is measured beside more is not kept
};

struct CalibrationResult {
  std::vector<cost::KernelSample> samples;  // of this and earlier calibrations
  std::size_t disturbed = 0;                // kernels that were measured but not kept
};

/// Measures the grid's kernels on this machine and keeps them in the database, model by model, so what was
/// measured before an end by time or by a signal stays. Kernels of earlier calibrations are left out.
/// `progress` is told how many of them are done. Throws ExecError where a kernel cannot be run.
CalibrationResult calibrate_machine(const std::vector<GridKernel>& grid, const cost::DeviceProfile& device,
                                    const std::string& fingerprint, cost::KernelDatabase& database,
                                    const CalibrationOptions& options, const Clock& clock,
                                    const std::function<void(std::size_t done)>& progress);

/// By kind, those of most kernels first.
std::vector<KernelKindFit> fit_by_kind(std::span<const cost::KernelSample> samples);

}
