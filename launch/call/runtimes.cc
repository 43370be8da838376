#include "launch/call/runtimes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>
#include <system_error>

#include "core/base/child_error.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/other_load.h"
#include "core/base/text.h"
#include "core/cost/fused_patterns.h"
#include "core/cost/kernel_database.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "launch/call/subprocess_checks.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "configs/runtimes";
constexpr std::array<std::string_view, 2> kTorchRuntimes{"torch-cpu", "torch-cuda"};
constexpr std::chrono::minutes kLongestSession{10}, kLongestStart{2};
constexpr double kMostLostUs = 1;  // of a kernel, by a counter of whole us

/// A Python program that measures by this adapter; what it is asked follows.
std::vector<std::string> by_adapter(const fs::path& adapter) {
  const char* python = std::getenv("REGRAFT_PYTHON");
  return {python != nullptr ? python : "python3", "-B", find_config(fs::path(kFolder) / "_measure.py"),
          adapter};
}

/// The same of our own, which has LibTorch; the device follows the name's hyphen.
std::vector<std::string> by_torch(const std::string& name) {
  return {exec::runtime_program().replace_filename("regraft"), "measure-torch",
          name.substr(name.find('-') + 1)};
}

/// `regraft_runtime draw-inputs`: exec::write_inputs.
fs::path write_in_child(const exec::MeasureRequest& request, const fs::path& folder) {
  SpawnOptions spawn;
  spawn.argv = {exec::runtime_program(), "draw-inputs", folder};
  std::ranges::move(exec::to_arguments(request), std::back_inserter(spawn.argv));
  const Captured child = capture_output(spawn, kLongestSession);
  if (child.timed_out || !child.status.ok())
    throw exec::ExecError(child_error(child, "drawing inputs"), "", "");
  return folder / "inputs.json";
}

fs::path shipped(const std::string& name) {
  return find_config(fs::path(kFolder) / (name + ".py"));
}

bool is_file_of_adapter(const fs::path& path) {
  return path.extension() == ".py" && fs::is_regular_file(path);
}

std::vector<std::string> adapters() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(find_config(kFolder), missing)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".py" && !name.starts_with('_')) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool has_kernels(const fs::path& adapter) {
  return read_file(adapter).find("\ndef kernels(") != std::string::npos;
}

/// What `measure-torch --nodes` and _measure.py print.
exec::KernelProfile nodes_from_json(const std::string& text, const std::string& runtime) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw exec::ExecError("printed no times of kernels", runtime, "");
  exec::KernelProfile profile;
  profile.run_us = json.at("run_us");
  profile.alone = json.value("alone", false);
  for (const nlohmann::json& node : json.at("nodes")) {
    exec::KernelTime kernel;
    node.at("values").get_to(kernel.within);
    kernel.node = kernel.within.empty() ? "" : kernel.within.front();
    kernel.op = node.at("op");
    kernel.time_us = node.at("us");
    profile.total_us += kernel.time_us;
    profile.kernels.push_back(std::move(kernel));
  }
  if (profile.alone || profile.kernels.empty()) return profile;
  const auto count = static_cast<double>(profile.kernels.size());
  const double lost_us = std::clamp((profile.run_us - profile.total_us) / count, 0.0, kMostLostUs);
  for (exec::KernelTime& kernel : profile.kernels) kernel.time_us += lost_us;
  profile.total_us += lost_us * count;
  return profile;
}

}  // namespace

Runtime::Runtime(const std::string& name_or_path) : name_(name_or_path) {
  if (name_ == kDefault) return;
  const std::vector<std::string> names = runtime_names();
  if (std::ranges::find(kTorchRuntimes, name_) != kTorchRuntimes.end()) {
    program_ = by_torch(name_);
  } else if (std::ranges::find(names, name_) != names.end()) {
    adapter_ = shipped(name_);
  } else if (is_file_of_adapter(name_)) {
    adapter_ = fs::absolute(name_);
    name_ = adapter_.stem();
  } else {
    throw UsageError("no runtime is called '" + name_ + "'", "", suggestion(name_, names));
  }
  if (!adapter_.empty()) program_ = by_adapter(adapter_);
}

std::string Runtime::version() const {
  if (is_default()) return exec::runtime_version();
  SpawnOptions spawn;
  spawn.argv = program_;
  spawn.argv.emplace_back("--version");
  const Captured child = capture_output(spawn, kLongestStart);
  if (child.timed_out || !child.status.ok()) throw exec::ExecError(child_error(child, name_), "", "");
  return child.output;
}

std::string Runtime::description() const {
  return is_default() ? "ONNX Runtime " + version() + " CPU" : name_ + " " + version();
}

cost::DeviceProfile Runtime::device(const fs::path& device_profile) const {
  cost::DeviceProfile device =
      cost::device_of_this_machine(device_profile, is_default() ? version() : std::string());
  if (is_default()) return device;
  if (adapter_.empty()) {
    device.fusing = cost::Fusing::nothing;
    return device;
  }
  device.fusing = cost::Fusing::elementwise;
  device.view_us = 0;
  const fs::path fusions = fs::path(adapter_).replace_extension(".fusions");
  device.fusions = fs::exists(fusions)
                       ? std::make_shared<cost::FusedPatterns>(cost::FusedPatterns::load(fusions))
                       : nullptr;
  device.fusions_version.clear();
  return device;
}

exec::KernelProfile Runtime::profile(const fs::path& model, const exec::Feed& feed,
                                     const exec::ProfileOptions& options) const {
  if (is_default()) return exec::profile_model(model, feed, options);
  if (!is_profiled(origin()))
    throw UsageError("its adapter has no function kernels(), so what its kernels take is not known", name_,
                     "leave out --runtime, or add one: launch/docs/adding-a-runtime.md");
  const TempDir folder;
  const FeedFile feed_file(feed);
  exec::MeasureRequest request;
  request.model = model;
  request.threads = options.threads;
  request.plan.warmup_runs = options.warmup_runs;
  request.plan.budget_s = options.budget_s;
  request.feed = feed_file.path();
  request.seed = options.seed;
  request.inputs = write_in_child(request, folder.path());
  SpawnOptions spawn;
  spawn.argv = program_;
  spawn.argv.emplace_back("--nodes");
  std::ranges::move(exec::to_arguments(request), std::back_inserter(spawn.argv));
  const OtherLoad load;
  const Captured child = capture_output(spawn, kLongestSession);
  if (child.timed_out || !child.status.ok()) throw exec::ExecError(child_error(child, name_), "", "");
  exec::KernelProfile profile = nodes_from_json(child.output, name_);
  profile.threads = options.threads;
  profile.other_load = load.processors();
  profile.disturbed = profile.other_load > options.most_other_load;
  return profile;
}

std::unique_ptr<exec::Launcher> Runtime::sessions() const {
  if (is_default()) return std::make_unique<exec::ProcessLauncher>(exec::own_sessions());
  return std::make_unique<exec::DrawnInputsLauncher>(
      exec::ProcessLauncher(program_[0], {program_.begin() + 1, program_.end()}, kLongestSession,
                            "measuring in " + name_),
      write_in_child);
}

bool on_gpu(const std::string& runtime) {
  return fs::path(runtime).stem().string().ends_with("-cuda");
}

fs::path rates_for(const std::string& runtime, const fs::path& given) {
  const char* kind = on_gpu(runtime) ? "configs/devices/h200.toml" : "configs/devices/cpu-1core.toml";
  return find_config(given.empty() ? kind : given);
}

std::vector<std::string> installed_runtimes() {
  std::vector<std::string> names = adapters();
  if (!fs::exists("/dev/nvidiactl")) std::erase_if(names, on_gpu);
  names.insert(names.begin(), Runtime::kDefault);
  return names;
}

std::vector<std::string> runtimes_named(const std::string& names) {
  if (names == "auto") return installed_runtimes();
  std::vector<std::string> named;
  for (const auto part : std::views::split(names, ',')) named.emplace_back(part.begin(), part.end());
  return named;
}

std::vector<std::string> profiled_runtimes() {
  std::vector<std::string> names{Runtime::kDefault};
  names.insert(names.end(), kTorchRuntimes.begin(), kTorchRuntimes.end());
  std::ranges::copy_if(adapters(), std::back_inserter(names),
                       [](const std::string& name) { return has_kernels(shipped(name)); });
  return names;
}

bool is_profiled(const std::string& name_or_path) {
  const std::vector<std::string> names = profiled_runtimes();
  return std::ranges::find(names, name_or_path) != names.end() ||
         (is_file_of_adapter(name_or_path) && has_kernels(name_or_path));
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names{Runtime::kDefault};
  names.insert(names.end(), kTorchRuntimes.begin(), kTorchRuntimes.end());
  std::ranges::move(adapters(), std::back_inserter(names));
  return names;
}

}
