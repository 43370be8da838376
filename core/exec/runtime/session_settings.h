#pragma once

#include <map>
#include <string>
#include <vector>

namespace Ort {
struct SessionOptions;
}

namespace regraft::exec {

/// Settings of a session of ONNX Runtime that are not its own defaults. Names and values are those of its
/// Python: a property of SessionOptions, or an entry of the config where the name has a dot.
using SessionSettings = std::map<std::string, std::string>;

/// A setting that may make a model faster.
struct SessionSetting {
  std::string name;
  std::vector<std::string> values;  // the first is the default
  bool list = false;                // the value is any of them, with semicolons between; none by default
};

/// What is worth trying beside a default of so many threads, with the most promising first.
/// `other_threads`: fewer threads, too.
std::vector<SessionSetting> settings_to_try(int threads, bool other_threads);

/// The settings with another value of one of them; in a list, with or without that one.
SessionSettings with_value(SessionSettings settings, const SessionSetting& setting, const std::string& value);

/// Gives them to a session. Throws ExecError for one that is not known.
void give(const SessionSettings& settings, Ort::SessionOptions& session);

/// "execution_mode=ORT_PARALLEL, intra_op_num_threads=1".
std::string describe(const SessionSettings& settings);

/// Lines of Python that open a model so.
std::vector<std::string> python_session(const std::string& model, const SessionSettings& settings);

/// From the JSON object that such a map is written as. Throws ExecError on anything else, which names `file`.
SessionSettings parse_settings(const std::string& text, const std::string& file);

}
