#include "core/exec/runtime/session_settings.h"

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/text.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using Give = void (*)(const std::string& value, Ort::SessionOptions& session);

/// A setting, and how it is given to a session.
struct Row {
  SessionSetting setting;
  Give give = nullptr;       // none: an entry of the config
  const char* python = "";   // before the value in Python
  bool for_threads = false;  // of sessions with several threads
};

constexpr const char* kThreads = "intra_op_num_threads";
constexpr char kBetween = ';';  // the runtime's header says a comma, but that disables nothing
constexpr const char* kYes = "True";

/// To add a setting, add a line.
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {{kThreads, {}},
       [](const std::string& value, Ort::SessionOptions& session) {
         int threads = 0;
         std::from_chars(value.data(), value.data() + value.size(), threads);
         session.SetIntraOpNumThreads(threads);
       },
       "",
       true},
      {{"graph_optimization_level", {"ORT_ENABLE_ALL", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_BASIC"}},
       [](const std::string& value, Ort::SessionOptions& session) {
         session.SetGraphOptimizationLevel(value == "ORT_ENABLE_BASIC"      ? ORT_ENABLE_BASIC
                                           : value == "ORT_ENABLE_EXTENDED" ? ORT_ENABLE_EXTENDED
                                                                            : ORT_ENABLE_ALL);
       },
       "onnxruntime.GraphOptimizationLevel."},
      {{"session.set_denormal_as_zero", {"0", "1"}}},
      {{"execution_mode", {"ORT_SEQUENTIAL", "ORT_PARALLEL"}},
       [](const std::string& value, Ort::SessionOptions& session) {
         session.SetExecutionMode(value == "ORT_PARALLEL" ? ORT_PARALLEL : ORT_SEQUENTIAL);
         session.SetInterOpNumThreads(0);  // as the runtime's own
       },
       "onnxruntime.ExecutionMode.",
       true},
      {{"optimization.disable_specified_optimizers",
        {"NchwcTransformer", "TransposeOptimizer", "MatMulAddFusion", "GemmActivationFusion",
         "ConvActivationFusion", "ConvAddActivationFusion", "GeluFusionL2", "LayerNormFusionL2",
         "SkipLayerNormFusion", "AttentionFusion", "MatmulTransposeFusion"},
        true}},
      {{"enable_mem_pattern", {kYes, "False"}},
       [](const std::string& value, Ort::SessionOptions& session) {
         value == kYes ? session.EnableMemPattern() : session.DisableMemPattern();
       }},
      {{"enable_cpu_mem_arena", {kYes, "False"}},
       [](const std::string& value, Ort::SessionOptions& session) {
         value == kYes ? session.EnableCpuMemArena() : session.DisableCpuMemArena();
       }},
  };
  return kRows;
}

const Row* row_of(const std::string& name) {
  const auto found = std::ranges::find(rows(), name, [](const Row& row) { return row.setting.name; });
  return found == rows().end() ? nullptr : &*found;
}

bool is_config(const std::string& name) {
  return name.find('.') != std::string::npos;
}

std::set<std::string> items_of(const std::string& list) {
  std::set<std::string> items;
  std::istringstream text(list);
  for (std::string item; std::getline(text, item, kBetween);) items.insert(item);
  return items;
}

}  // namespace

std::vector<SessionSetting> settings_to_try(int threads, bool other_threads) {
  std::vector<SessionSetting> settings;
  for (const Row& row : rows()) {
    if (row.for_threads && threads == 1) continue;
    settings.push_back(row.setting);
    if (row.setting.name != kThreads) continue;
    for (const int count : {threads, threads / 2, 1})
      if (const std::string value = std::to_string(count);
          settings.back().values.empty() || settings.back().values.back() != value)
        settings.back().values.push_back(value);
    if (!other_threads) settings.pop_back();
  }
  return settings;
}

SessionSettings with_value(SessionSettings settings, const SessionSetting& setting,
                           const std::string& value) {
  std::string& held = settings[setting.name];
  if (setting.list) {
    std::set<std::string> items = items_of(held);
    if (items.erase(value) == 0) items.insert(value);
    held = join(std::vector<std::string>(items.begin(), items.end()), {&kBetween, 1});
  } else {
    held = value == setting.values[0] ? "" : value;
  }
  if (held.empty()) settings.erase(setting.name);
  return settings;
}

void give(const SessionSettings& settings, Ort::SessionOptions& session) {
  for (const auto& [name, value] : settings) {
    const Row* row = row_of(name);
    if (row != nullptr && row->give != nullptr)
      row->give(value, session);
    else if (is_config(name))
      session.AddConfigEntry(name.c_str(), value.c_str());
    else
      throw ExecError("'" + name + "' is no setting of a session that is known", "", "");
  }
}

std::string describe(const SessionSettings& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings) parts.push_back(name + "=" + value);
  return join(parts, ", ");
}

std::vector<std::string> python_session(const std::string& model, const SessionSettings& settings) {
  std::vector<std::string> lines{"options = onnxruntime.SessionOptions()"};
  for (const auto& [name, value] : settings) {
    const Row* row = row_of(name);
    lines.push_back(is_config(name)
                        ? "options.add_session_config_entry(\"" + name + "\", \"" + value + "\")"
                        : "options." + name + " = " + (row != nullptr ? row->python : "") + value);
  }
  lines.push_back("session = onnxruntime.InferenceSession(" + nlohmann::json(model).dump() + ", options)");
  return lines;
}

SessionSettings parse_settings(const std::string& text, const std::string& file) {
  try {
    return nlohmann::json::parse(text).get<SessionSettings>();
  } catch (const nlohmann::json::exception&) {
    throw ExecError("no object of settings", file, "give what `optimise --settings` writes");
  }
}

}
