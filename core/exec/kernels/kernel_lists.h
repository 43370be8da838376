#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/analytic_cost.h"
#include "core/exec/inputs/feed.h"
#include "core/exec/latency/kernel_profile.h"

namespace regraft::exec {

/// Whether a launched kernel moves nothing (Reshape, Squeeze...). The runtime puts many around its products.
bool is_view(const KernelTime& kernel);

/// A predicted kernel beside those that the runtime launched for the same nodes.
struct ComparedKernel {
  std::string value;  // that it makes, as the model calls it
  cost::PredictedKernel predicted;
  std::vector<std::size_t> launched;  // in KernelLists::profile
  double launched_us = 0;             // of them together, executed once, or its share of that
  bool shared = false;                // one of them does other predicted kernels' work too
  bool sized = true;                  // all of its shapes are known
  std::size_t graph = 0;              // of the model, that it lies in
};

/// The kernels that the cost model predicts for a model, and those that the runtime launched.
struct KernelLists {
  KernelProfile profile;  // times as in a run without the profiler, which adds some us to each kernel
  std::vector<ComparedKernel> compared;
  std::vector<std::size_t> unexpected;  // launched kernels that no predicted one stands for
  /// How often each graph of the model ran in a run of it, as its kernels were launched: 0 for a branch that
  /// was not taken. Nothing where no kernel tells.
  std::vector<std::optional<double>> graph_runs;

  /// DeviceProfile::infers_symbols, as the kernels show.
  bool infers_symbols = false;

  /// By the device's rates; at a run of all graphs once.
  double predicted_us() const;
  double corrected_us = 0;  // predicted with the rates corrected by samples()
  /// Whether what was launched is of the form that was predicted, where the runtime has a kernel for that
  /// form.
  bool is_as_predicted(const ComparedKernel& one) const;
  /// Whether one kernel was launched for a predicted one alone, and of its form. Views do not count.
  bool agrees(const ComparedKernel& one) const;
  /// The share of the launched kernels' time, without views, in those that agree.
  double agreed_share() const;
  /// What may correct the device's rates: all kernels that were launched as predicted.
  std::vector<cost::KernelSample> samples() const;
};

/// Predicts a model by the device at the feed's first point, beside a profile that was taken there with the
/// outputs of its kernels. Throws what import_model throws.
KernelLists compare_profile(const std::filesystem::path& model, const Feed& feed,
                            const cost::DeviceProfile& device, KernelProfile profile);
/// The same by ONNX Runtime's profile. Throws what profile_model throws, too.
KernelLists compare_kernels(const std::filesystem::path& model, const Feed& feed,
                            const cost::DeviceProfile& device, const ProfileOptions& options);

/// [{"op": "Conv", "form": "blocked", "dtype": "float", "sizes": [...], "analytic_us": 3.5, "measured_us":
/// 4}, ...]
nlohmann::json to_json(std::span<const cost::KernelSample> samples);
/// The inverse; throws ExecError on anything else.
std::vector<cost::KernelSample> samples_from_json(const nlohmann::json& json);

}
