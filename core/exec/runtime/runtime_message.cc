#include "core/exec/runtime/runtime_message.h"

#include <algorithm>
#include <sstream>

namespace regraft::exec {
namespace {

constexpr std::string_view kRunning = "Non-zero status code returned while running ";
constexpr std::string_view kName = " node. Name:'";
constexpr std::string_view kStatus = "' Status Message: ";
constexpr std::string_view kLoading = "Load model from ", kLoadFailed = " failed:";
constexpr std::string_view kWithin = "[ONNXRuntimeError]", kPart = " : ";
constexpr std::string_view kSources = "onnxruntime/core/";
constexpr std::string_view kFailed = " was false. ";  // behind a condition

std::string in_one_line(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Behind the parameters of the function that a text begins with; 0 where it has none.
std::size_t end_of_signature(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0 && text.substr(i + 1, 1) != ":")
      return i + 1;  // not (anonymous namespace)::
  }
  return 0;
}

/// Behind the number, the name and the place of an error that the text quotes.
std::string_view quoted(std::string_view text) {
  if (!text.starts_with(kWithin)) return text;
  const std::size_t number = text.find(kPart), name = text.find(kPart, number + 1),
                    said = text.find(kPart, name + 1);
  if (std::max({number, name, said}) == text.npos) return text;
  text.remove_prefix(said + kPart.size());
  const std::size_t place = text.find(' '), function = text.find(' ', place + 1);
  const bool placed = text.find(".cc:") < place && std::max(place, function) != text.npos;
  return placed ? text.substr(function + 1) : text;
}

std::string_view without_place(std::string_view text) {
  const std::size_t place = text.find(kSources);
  if (place == text.npos) return text;
  std::string_view said = text.substr(place);
  said.remove_prefix(end_of_signature(said));
  if (const std::size_t failed = said.find(kFailed); failed != said.npos)
    said.remove_prefix(failed + kFailed.size());
  const std::size_t begin = said.find_first_not_of(' ');
  return begin == said.npos ? text : quoted(said.substr(begin));
}

}  // namespace

std::string runtime_message(std::string_view what) {
  const std::string line = in_one_line(what);
  std::string_view all = line;
  if (const std::size_t failed = all.find(kLoadFailed); all.starts_with(kLoading) && failed != all.npos)
    all.remove_prefix(failed + kLoadFailed.size());
  const std::size_t name = all.find(kName), status = all.find(kStatus);
  if (!all.starts_with(kRunning) || name == all.npos || status == all.npos || status < name)
    return std::string(without_place(all));
  const std::string op(all.substr(kRunning.size(), name - kRunning.size()));
  const std::string node(all.substr(name + kName.size(), status - name - kName.size()));
  return op + (node.empty() ? "" : " '" + node + "'") + ": " +
         std::string(without_place(all.substr(status + kStatus.size())));
}

}
