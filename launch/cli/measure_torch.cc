#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/exec/inputs/npz.h"
#include "core/exec/latency/measurement.h"
#include "core/exec/torch/torch_model.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

/// What was drawn for the model.
std::map<std::string, exec::Tensor> inputs_of(const exec::MeasureRequest& request) {
  if (!request.inputs) throw UsageError("no inputs given", "measure-torch", "--inputs LIST");
  return exec::read_inputs(*request.inputs);
}

nlohmann::json measure(const std::string& device, const exec::MeasureRequest& request) {
  std::optional<exec::TorchModel> model;
  const auto load = [&] { model.emplace(request.model, device, request.threads, inputs_of(request)); };
  const auto write_outputs = [&] {
    if (request.outputs) exec::write_npz(*request.outputs, model->run());
  };
  const auto time_runs = [&] { return model->time_runs_ms(request.plan); };
  return exec::to_json(exec::measure_steps(request.plan, {load, write_outputs, time_runs}));
}

nlohmann::json time_nodes(const std::string& device, const exec::MeasureRequest& request) {
  exec::TorchModel model(request.model, device, request.threads, inputs_of(request));
  exec::Measurement runs;
  runs.run_ms = model.time_runs_ms(request.plan);
  nlohmann::json nodes = nlohmann::json::array();
  for (const auto& [op, value, us] : model.time_nodes(request.plan.budget_s))
    nodes.push_back({{"op", op}, {"values", nlohmann::json::array({value})}, {"us", us}});
  return {{"run_us", runs.latency_ms() * 1e3}, {"alone", true}, {"nodes", std::move(nodes)}};
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

}
