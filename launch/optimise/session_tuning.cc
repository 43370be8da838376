#include "launch/optimise/session_tuning.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/exec/latency/settings_search.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::launch {
namespace {

std::string times(double speedup) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3fx", speedup);
  return text;
}

std::string shown(const exec::SessionSettings& settings) {
  return settings.empty() ? "the runtime's own" : exec::describe(settings);
}

}  // namespace

nlohmann::json SettingsReport::to_json() const {
  nlohmann::json json{{"input", input},         {"output", output},        {"speedup", nullptr},
                      {"speedup_low", nullptr}, {"speedup_high", nullptr}, {"tried", tried},
                      {"known", known}};
  if (gain) {
    json["speedup"] = gain->speedup;
    json["speedup_low"] = gain->low;
    json["speedup_high"] = gain->high;
  }
  return json;
}

std::string SettingsReport::file() const {
  return nlohmann::json(output).dump(2) + "\n";
}

std::vector<std::string> SettingsReport::lines(const std::string& model,
                                               std::optional<double> rewrites) const {
  if (known == 0) return {};
  std::vector<std::string> lines{"of the input: " + shown(input) + "; " + std::to_string(tried) + " of " +
                                 std::to_string(known) + " changes tried"};
  if (output != input) lines.push_back("of the result: " + shown(output));
  if (gain || rewrites) {
    const double by_settings = gain ? gain->speedup : 1;
    lines.push_back("in all " + times(by_settings * rewrites.value_or(1)) + " as fast: settings " +
                    times(by_settings) + ", rewrites " + times(rewrites.value_or(1)));
  }
  if (output.empty()) return lines;
  for (std::string& line : exec::python_session(model, output)) lines.push_back("    " + std::move(line));
  return lines;
}

void remove_stale_settings(const OptimiseOptions& options) {
  const std::filesystem::path file = options.session_file();
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) return;
  try {
    exec::parse_settings(read_file(file), file);
  } catch (const Error&) {
    return;
  }
  std::filesystem::remove(file, problem);
  options.warn((problem ? "cannot remove " : "removed ") + file.string() +
               ": it held settings of an earlier result" + (problem ? " (" + problem.message() + ")" : ""));
}

SessionTuning::SessionTuning(const OptimiseOptions& options, RuntimeChoice& runtime, Check check,
                             SettingsReport& report)
    : options_(options), runtime_(runtime), check_(std::move(check)), report_(report) {
  if (!options.fewer_threads) given_["intra_op_num_threads"] = std::to_string(options.threads);
}

exec::SessionSettings SessionTuning::found(const std::filesystem::path& model,
                                           const exec::SessionSettings& start) {
  const exec::FoundSettings found =
      exec::find_settings(runtime_.sessions(), model,
                          {exec::settings_to_try(options_.threads, options_.fewer_threads), start,
                           runtime_.trials(options_.time.measure_s(0)),
                           [&](const exec::SessionSettings& settings) { return holds(model, settings); }});
  report_.tried += found.tried;
  report_.known += found.known;
  return found.settings;
}

bool SessionTuning::holds(const std::filesystem::path& model, const exec::SessionSettings& settings) const {
  const TempDir folder;
  ChildCheck check = check_();
  check.session = folder.path() / "session.json";
  write_file_atomic(*check.session, nlohmann::json(settings).dump());
  try {
    return verify_in_child(options_.input, model, check).equivalent;
  } catch (const exec::ExecError&) {  // the runtime crashed
    return false;
  }
}

void SessionTuning::tune_input() {
  exec::SessionSettings& input = report_.input = found(options_.input, given_);
  if (input != given_) {
    const exec::LatencyReport latency = exec::compare_latency(runtime_.sessions(), options_.input,
                                                              {options_.input, input}, runtime_.options());
    if (latency.accepted)
      report_.gain = latency.estimate;
    else
      input = given_;
  }
  report_.output = input;
}

std::vector<exec::SessionSettings> SessionTuning::to_try() const {
  if (report_.input == given_) return {given_};
  return {report_.input, given_};
}

void SessionTuning::tune_output(const std::filesystem::path& output) {
  report_.output = found(output, holds(output, report_.output) ? report_.output : given_);
}

}
