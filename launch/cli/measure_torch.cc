#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/base/other_load.h"
#include "core/base/process.h"
#include "core/exec/inputs/npz.h"
#include "core/exec/latency/measurement.h"
#include "core/exec/latency/profile.h"
#include "core/exec/torch/torch_model.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

/// A model on a device of LibTorch, on the inputs that were drawn for it.
exec::TorchModel load(const std::string& device, const exec::MeasureRequest& request) {
  if (!request.inputs) throw UsageError("no inputs given", "measure-torch", "--inputs LIST");
  return {request.model, device, request.threads, exec::read_inputs(*request.inputs)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::json measure(const std::string& device, const exec::MeasureRequest& request) {
  exec::Measurement measurement;
  const auto start = std::chrono::steady_clock::now();
  exec::TorchModel model = load(device, request);
  measurement.load_s = seconds_since(start);
  if (request.outputs) exec::write_npz(*request.outputs, model.run());
  const auto first_run = std::chrono::steady_clock::now();
  measurement.run_ms = model.time_runs_ms(request.plan);
  const double runs = static_cast<double>(measurement.run_ms.size()) + request.plan.warmup_runs;
  measurement.run_wall_s = seconds_since(first_run) / runs;
  measurement.peak_rss_bytes = peak_rss_bytes();
  return exec::to_json(measurement);
}

nlohmann::json time_nodes(const std::string& device, const exec::MeasureRequest& request) {
  exec::TorchModel model = load(device, request);
  const OtherLoad load;
  exec::Measurement runs;
  runs.run_ms = model.time_runs_ms(request.plan);
  nlohmann::json nodes = nlohmann::json::array();
  for (const auto& [op, value, us] : model.time_nodes(request.plan.budget_s))
    nodes.push_back({{"op", op}, {"value", value}, {"us", us}});
  return {
      {"run_us", runs.latency_ms() * 1e3}, {"other_load", load.processors()}, {"nodes", std::move(nodes)}};
}

}  // namespace

void add_measure_torch(Command& program, Action& action) {
  Command* command = program.add_subcommand("measure-torch", "one measuring session in LibTorch, as JSON");
  command->hide();  // started by bench and optimise; not for people
  command->prefix_command();
  command->callback([command, &action] {
    action = [words = command->remaining()] {
      if (words.size() < 2)
        throw UsageError("no model given", "measure-torch", "measure-torch cpu|cuda MODEL [options]");
      if (words[1] == "--version")
        std::cout << exec::torch_version(words[0]);
      else if (words[1] == "--nodes")
        std::cout << json_text(
                         time_nodes(words[0], exec::request_from_arguments({words.begin() + 2, words.end()})))
                  << std::endl;
      else
        std::cout << json_text(
                         measure(words[0], exec::request_from_arguments({words.begin() + 1, words.end()})))
                  << std::endl;
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace regraft::launch
