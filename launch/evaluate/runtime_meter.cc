#include "launch/evaluate/runtime_meter.h"

#include <optional>

#include "core/base/file.h"
#include "core/exec/latency/launcher.h"
#include "core/exec/runtime/exec_error.h"
#include "launch/call/subprocess_checks.h"

namespace regraft::launch {
namespace {

constexpr double kUsPerMs = 1000;

class RuntimeMeter : public env::LatencyMeter {
 public:
  RuntimeMeter(const task::Task& task, double seconds)
      : task_(task), folder_("regraft-meter"), launcher_(exec::own_sessions()) {
    request_.model = folder_.path() / "graph.onnx";
    request_.plan.budget_s = seconds;
  }
  double latency_us(const graph::Graph& graph) override {
    task_.write(graph, request_.model);
    if (!request_.feed) find_feed();
    return launcher_.measure(request_).latency_ms() * kUsPerMs;
  }

 private:
  /// All graphs of the task are fed as the first one is.
  void find_feed() {
    FeedOptions options;
    options.bindings = task::binding_texts(task_.sizes());
    options.foreign = true;  // dims inside of the model are among them
    const exec::Feed feed = feed_in_child(request_.model, options, request_.seed);
    if (!feed.runs()) throw exec::ExecError(feed.problem, task_.name(), feed.remedy);
    feed_file_.emplace(feed);
    request_.feed = feed_file_->path();
  }

  const task::Task& task_;
  TempDir folder_;
  exec::ProcessLauncher launcher_;
  exec::MeasureRequest request_;
  std::optional<FeedFile> feed_file_;
};

}  // namespace

std::unique_ptr<env::LatencyMeter> make_runtime_meter(const task::Task& task, double seconds) {
  return std::make_unique<RuntimeMeter>(task, seconds);
}

}
