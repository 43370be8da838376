#include "core/exec/latency/measurement.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/resource_usage.h"
#include "core/base/stats.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

constexpr double kQuantile = 0.1;
constexpr int kDTypes = 27;  // that have names

template <typename Number>
Number parse_number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw UsageError("'" + text + "' is not a number", option, "");
  }
  return value;
}

void apply(MeasureRequest& request, const std::string& option, const std::string& value) {
  if (option == "--threads") {
    request.threads = parse_number<int>(option, value);
  } else if (option == "--seed") {
    request.seed = parse_number<std::uint64_t>(option, value);
  } else if (option == "--warmup-runs") {
    request.plan.warmup_runs = parse_number<int>(option, value);
  } else if (option == "--min-runs") {
    request.plan.min_runs = parse_number<int>(option, value);
  } else if (option == "--max-runs") {
    request.plan.max_runs = parse_number<int>(option, value);
  } else if (option == "--seconds") {
    request.plan.budget_s = parse_number<double>(option, value);
  } else if (option == "--feed") {
    request.feed = value;
  } else if (option == "--inputs") {
    request.inputs = value;
  } else if (option == "--outputs") {
    request.outputs = value;
  } else if (option == "--point") {
    request.point = parse_number<std::size_t>(option, value);
  } else if (option == "--optimisation") {
    request.optimisation = optimisation_from_name(value);
  } else if (option == "--setting") {
    const std::size_t between = std::min(value.find('='), value.size());
    request.settings[value.substr(0, between)] = value.substr(std::min(between + 1, value.size()));
  } else {
    throw UsageError("unknown option " + option, "measure-one",
                     "known: --threads --seed --warmup-runs --min-runs --max-runs --seconds --feed --point "
                     "--inputs --outputs --optimisation --setting");
  }
}

DType dtype_of(const std::string& name) {
  for (int number = 0; number < kDTypes; ++number)
    if (const auto dtype = static_cast<DType>(number); graph::dtype_name(dtype) == name) return dtype;
  throw ExecError("no element type is called " + name, "inputs", "");
}

Feed feed_for(const MeasureRequest& request) {
  Feed feed = request.feed ? load_feed(*request.feed) : find_feed(request.model, {.several = false});
  if (request.point >= feed.points.size()) throw ExecError(feed.problem, request.model, feed.remedy);
  return feed;
}

std::vector<Tensor> draw_inputs(const MeasureRequest& request, const Feed& feed,
                                std::span<const ValueInfo> inputs) {
  Rng rng(request.seed, "latency inputs");
  return feed.source()->draw(inputs, feed.points[request.point].sizes, rng);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double Measurement::latency_ms() const {
  if (run_ms.empty()) throw ExecError("a measurement without runs", "latency", "");
  return quantile(run_ms, kQuantile);
}

Measurement measure_steps(const TimingPlan& plan, const SessionSteps& steps) {
  Measurement measurement;
  const auto start = std::chrono::steady_clock::now();
  steps.load();
  measurement.load_s = seconds_since(start);
  steps.prepare();
  const auto first_run = std::chrono::steady_clock::now();
  measurement.run_ms = steps.time_runs();
  const double runs = static_cast<double>(measurement.run_ms.size()) + plan.warmup_runs;
  measurement.run_wall_s = seconds_since(first_run) / runs;
  measurement.peak_rss_bytes = peak_rss_bytes();
  return measurement;
}

Measurement measure_here(const MeasureRequest& request) {
  const Feed feed = feed_for(request);
  std::optional<OrtSession> session;
  std::vector<Tensor> inputs;
  const auto load = [&] {
    session.emplace(request.model,
                    SessionOptions{request.optimisation, request.threads, {}, {}, request.settings});
  };
  const auto draw = [&] { inputs = draw_inputs(request, feed, session->inputs()); };
  const auto time_runs = [&] { return session->time_runs_ms(inputs, request.plan); };
  return measure_steps(request.plan, {load, draw, time_runs});
}

std::filesystem::path write_inputs(const MeasureRequest& request, const std::filesystem::path& folder) {
  const Feed feed = feed_for(request);
  const OrtSession session(request.model, {Optimisation::none, request.threads, {}});
  const std::vector<Tensor> tensors = draw_inputs(request, feed, session.inputs());
  nlohmann::json list = nlohmann::json::array();
  for (const Tensor& tensor : tensors) {
    const std::string& name = session.inputs()[list.size()].name;
    if (tensor.container != Container::tensor || tensor.dtype == DType::string)
      throw ExecError("input '" + name + "' is no tensor of numbers", request.model,
                      "only ONNX Runtime is given others: --runtime onnxruntime");
    const std::string file = std::to_string(list.size()) + ".bin";
    write_file_atomic(folder / file, tensor.bytes);
    list.push_back(
        {{"name", name}, {"type", graph::dtype_name(tensor.dtype)}, {"dims", tensor.dims}, {"file", file}});
  }
  write_file_atomic(folder / "inputs.json", json_text(list));
  return folder / "inputs.json";
}

std::map<std::string, Tensor> read_inputs(const std::filesystem::path& list) {
  std::map<std::string, Tensor> inputs;
  try {
    for (const nlohmann::json& one : nlohmann::json::parse(read_file(list))) {
      const std::string bytes = read_file(list.parent_path() / one.at("file").get<std::string>());
      const auto raw = std::as_bytes(std::span(bytes));
      inputs[one.at("name")] = {dtype_of(one.at("type")), one.at("dims"), {raw.begin(), raw.end()}, {}};
    }
  } catch (const nlohmann::json::exception& error) {
    throw ExecError(std::string("not a list of inputs: ") + error.what(), list, "");
  }
  return inputs;
}

nlohmann::json to_json(const Measurement& measurement) {
  return {{"load_s", measurement.load_s},
          {"run_ms", measurement.run_ms},
          {"run_wall_s", measurement.run_wall_s},
          {"peak_rss_bytes", measurement.peak_rss_bytes}};
}

Measurement measurement_from_json(const std::string& text, const std::string& where) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Measurement measurement{json.at("load_s"), json.at("run_ms"), json.at("run_wall_s"),
                            json.at("peak_rss_bytes")};
    if (measurement.run_ms.empty() ||
        !std::ranges::all_of(measurement.run_ms, [](double ms) { return ms > 0; }))
      throw ExecError("not a measurement: run_ms has no runs, or some that took no time", where, "");
    return measurement;
  } catch (const nlohmann::json::exception& error) {
    throw ExecError(std::string("not a measurement: ") + error.what(), where, "");
  }
}

std::vector<std::string> to_arguments(const MeasureRequest& request) {
  std::vector<std::string> arguments{request.model.string(),
                                     "--threads",
                                     std::to_string(request.threads),
                                     "--seed",
                                     std::to_string(request.seed),
                                     "--warmup-runs",
                                     std::to_string(request.plan.warmup_runs),
                                     "--min-runs",
                                     std::to_string(request.plan.min_runs),
                                     "--max-runs",
                                     std::to_string(request.plan.max_runs),
                                     "--seconds",
                                     std::to_string(request.plan.budget_s),
                                     "--optimisation",
                                     std::string(optimisation_name(request.optimisation))};
  if (request.feed) {
    const std::string point = std::to_string(request.point);
    arguments.insert(arguments.end(), {"--feed", request.feed->string(), "--point", point});
  }
  for (const auto& [name, value] : request.settings)
    arguments.insert(arguments.end(), {"--setting", name + "=" + value});
  if (request.outputs) arguments.insert(arguments.end(), {"--outputs", request.outputs->string()});
  if (request.inputs) arguments.insert(arguments.end(), {"--inputs", request.inputs->string()});
  return arguments;
}

MeasureRequest request_from_arguments(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("no model given", "measure-one", "measure-one MODEL [options]");
  MeasureRequest request;
  request.model = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError("needs a value", arguments[i], "");
    apply(request, arguments[i], arguments[i + 1]);
  }
  return request;
}

}
