#include "launch/runtime_meter.h"

#include <filesystem>

#include "core/base/file.h"
#include "core/exec/launcher.h"

namespace regraft::launch {
namespace {

constexpr double kUsPerMs = 1000;

class RuntimeMeter : public env::LatencyMeter {
 public:
  RuntimeMeter(const actors::Task& task, double seconds)
      : task_(task),
        folder_("regraft-meter"),
        launcher_(std::filesystem::read_symlink("/proc/self/exe"), {"measure-one"}) {
    request_.model = folder_.path() / "graph.onnx";
    request_.plan.budget_s = seconds;
    request_.bound = task.sizes();
  }
  double latency_us(const graph::Graph& graph) override {
    task_.write(graph, request_.model);
    return launcher_.measure(request_).latency_ms() * kUsPerMs;
  }

 private:
  const actors::Task& task_;
  TempDir folder_;
  exec::ProcessLauncher launcher_;
  exec::MeasureRequest request_;
};

}  // namespace

std::unique_ptr<env::LatencyMeter> make_runtime_meter(const actors::Task& task, double seconds) {
  return std::make_unique<RuntimeMeter>(task, seconds);
}

}  // namespace regraft::launch
