#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bound_options.h"
#include "core/base/clock.h"
#include "core/cost/cost.h"
#include "core/env/environment.h"
#include "core/rules/set/rule_set.h"
#include "core/task/bindings.h"

namespace regraft::task {

class WorkloadError : public Error {
 public:
  using Error::Error;
};

class Task;

/// What graphs cost: the device's rates; the same corrected by the kernels that were measured on this
/// machine; or each operation alone, by these (as TASO does it).
enum class CostKind : std::uint8_t { device, measured, alone };
constexpr std::array<std::string_view, 3> enum_names(CostKind) {
  return {"device", "measured", "alone"};
}

/// What a job rewrites: the options `workload.*`.
struct WorkloadOptions {
  /// ONNX files, "corpus:FAMILY:SEED" (core/corpus/corpus.h) or "synthetic:SIZE:SEED" (core/env/synthetic.h).
  std::vector<std::string> models;
  std::uint32_t environments = 16;                                  // that an actor keeps at most
  std::filesystem::path rules = "configs/rules";                    // a .rules file or a folder of them
  std::filesystem::path device = "configs/devices/cpu-1core.toml";  // profile of the analytic cost model
  CostKind cost = CostKind::device;
  env::EnvOptions environment;  // its bindings are each task's own
  NamedSizes bind;  // of symbolic dims; of one model's alone: MODEL:batch, by the name in model_names
  /// The measured costs of a task's graphs, for the measured reward; none where the program links no runtime.
  std::function<std::unique_ptr<env::LatencyMeter>(const Task&)> make_meter;
};
std::vector<Option> workload_options();
WorkloadOptions workload_options_from(const Config& config);

/// The models of a list in which "corpus:FAMILY:0-24" stands for 25 of them (core/corpus/corpus.h).
std::vector<std::string> expanded_models(const std::vector<std::string>& models);

/// Whether a model is made by its name, and is no file.
bool is_generated(const std::string& model);

/// Under which this machine's kernels are kept (core/cost/kernel_database.h).
std::string kernel_fingerprint(const WorkloadOptions& options);

/// What the models are called: stems of files, with a number where another has that stem too.
std::vector<std::string> model_names(const std::vector<std::string>& models);

/// One graph to rewrite with what belongs to it: the model's mapped weights and tables, rules, costs.
/// Environments made from it must not outlive it, and share its tables: one thread.
class Task {
 public:
  virtual ~Task() = default;
  virtual const graph::Graph& start() const = 0;  // after clean-up
  virtual const rules::RuleSet& rules() const = 0;
  virtual const cost::CostFactory& costs() const = 0;
  virtual const std::string& name() const = 0;  // file stem
  /// Sizes of its symbolic dims, by symbol and by name; others count as 1, and are warned of.
  virtual const graph::Bindings& bindings() const = 0;
  virtual const NamedSizes& sizes() const = 0;
  /// Writes a graph of this task as a model file. Throws WorkloadError where it is none (a synthetic one).
  virtual void write(const graph::Graph& graph, const std::filesystem::path& path) const = 0;

  /// Null unless the reward is measured; set once, when the task is loaded.
  env::LatencyMeter* meter() const { return meter_.get(); }
  void set_meter(std::unique_ptr<env::LatencyMeter> meter) { meter_ = std::move(meter); }

 private:
  std::unique_ptr<env::LatencyMeter> meter_;
};

/// Loads one model of the list and cleans it up. Throws what import, rules and device profile throw. Throws
/// WorkloadError for a name that is neither a file nor a generated model, and for a measured reward without a
/// meter. Also for a binding of a dim that the only model does not have.
std::unique_ptr<Task> load_task(const WorkloadOptions& options, std::size_t model);

/// The rule set of a job: that of the files, or of the synthetic family when the models are synthetic; mixing
/// is refused.
rules::RuleSet load_rules(const WorkloadOptions& options);

env::Environment make_environment(const Task& task, const WorkloadOptions& options, const Clock& clock);

}
