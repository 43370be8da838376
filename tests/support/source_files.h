#pragma once

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/file.h"

/// The project's own sources, as tests of the architecture read them.
namespace regraft::testing {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

struct Include {
  std::string target;
  bool ours = false;  // written with quotes
};

struct SourceFile {
  std::string path, folder;  // relative to the root; the folder as in edges.txt
  std::vector<Include> includes;
  // Outside of unnamed namespaces, with the namespace: "regraft::env Environment".
  std::vector<std::string> types{};  // that it defines, not indented
  Names classes{};                   // whose member functions a .cc file defines
  Names names{};                     // of what else a header declares: functions, enums, aliases
  std::size_t lines = 0;
  bool is_header() const { return path.ends_with(".h"); }
};

inline fs::path root() {
  return REGRAFT_SOURCE_DIR;
}

/// Folder to the folders that it may include, of edges.txt.
inline std::map<std::string, Names> parse_edges(const std::string& text) {
  std::map<std::string, Names> edges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string::npos) continue;
    std::istringstream targets(line.substr(colon + 1));
    Names& allowed = edges[line.substr(0, colon)];
    for (std::string target; targets >> target;) allowed.insert(target);
  }
  return edges;
}

inline const std::map<std::string, Names>& edges() {
  static const auto parsed = parse_edges(read_file(root() / "cmake/edges.txt"));
  return parsed;
}

/// The innermost folder of edges.txt in which a path lies; "" where there is none.
inline std::string folder_of(const std::string& path) {
  std::string innermost;
  for (const auto& [folder, targets] : edges()) {
    if (path.starts_with(folder + "/") && folder.size() > innermost.size()) innermost = folder;
  }
  return innermost;
}

inline SourceFile parse_source(const std::string& path, const std::string& text) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  static const std::regex space(R"(^namespace ([\w:]+) \{)"),
      type(R"(^(?:class|struct) (?:[A-Z_]+\(.*\) )?(\w+)(?: final)?(?: :.*)? \{)"),
      member(R"(^(?!\s|using|return|//)[\w:<>&*, \[\]]*?\b((?:[A-Z]\w*::)+)~?\w[^\s(]*\()"),
      name(
          R"(^(?:using (\w+) =|enum class (\w+)|(?!\s|using|class|struct|//)[\w:<>&*, \[\]]+?[\s&*](\w+)\())");
  SourceFile file{path, folder_of(path), {}};
  std::string inside;
  bool unnamed = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++file.lines) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) file.includes.push_back({match[2], match[1] == "\""});
    if (!file.is_header() && !path.ends_with(".cc")) continue;
    if (std::regex_search(line, match, space)) inside = match[1];
    if (line == "namespace {" || line == "}  // namespace") unnamed = line.ends_with('{');
    if (!unnamed && std::regex_search(line, match, type)) file.types.push_back(inside + " " + match[1].str());
    if (file.is_header() && std::regex_search(line, match, name))
      file.names.insert(match[1].str() + match[2].str() + match[3].str());
    const bool defines = !file.is_header() && !unnamed && line.find("::") != line.npos;
    if (defines && std::regex_search(line, match, member))
      file.classes.insert(inside + " " + match[1].str().substr(0, match[1].length() - 2));
  }
  return file;
}

inline std::vector<SourceFile> sources_under(const std::vector<std::string>& folders) {
  static const Names extensions{".h", ".cc", ".cu", ".py", ".sh", ".cmake", ".txt", ".rules", ".toml"};
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(root() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      if (!entry.is_regular_file() || !extensions.contains(entry.path().extension().string())) continue;
      files.push_back(parse_source(fs::relative(entry.path(), root()).string(), read_file(entry.path())));
    }
  }
  return files;
}

inline const std::vector<SourceFile>& our_sources() {
  static const auto files = sources_under({"core", "replay", "actors", "learner", "launch"});
  return files;
}

}
