#include "core/rules/rewrite/rewrite_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_integer.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

using nlohmann::json;

constexpr std::string_view kCleanUp = "clean-up:";

[[noreturn]] void bad_line(const std::string& where, std::size_t line, const std::string& problem) {
  throw RuleError(problem, where + ":" + std::to_string(line), "the file is damaged or is no rewrite log");
}

template <typename T>
T field(const json& object, const char* key, const std::string& where, std::size_t line) {
  try {
    if constexpr (std::integral<T>)
      return json_integer<T>(object.at(key));
    else
      return object.at(key).get<T>();
  } catch (const json::exception&) {
    bad_line(where, line, std::string("lacks a valid \"") + key + "\"");
  }
}

json entry_json(const LogEntry& entry) {
  json object{{"name", entry.name}, {"nodes", entry.nodes}};
  if (!entry.name.starts_with(kCleanUp)) {
    object["cost_before_us"] = entry.cost_before_us;
    object["cost_after_us"] = entry.cost_after_us;
  }
  if (!entry.graph.empty()) object["graph"] = entry.graph;
  for (const RuleMark mark : entry.marks) object["marks"].push_back(mark_name(mark));
  return object;
}

LogEntry parse_entry(const json& object, const std::string& where, std::size_t line) {
  LogEntry entry;
  entry.name = field<std::string>(object, "name", where, line);
  if (!object.contains("nodes") || !object["nodes"].is_array() || object["nodes"].empty())
    bad_line(where, line, "lacks a list of nodes");
  for (const json& node : object["nodes"]) {
    try {
      entry.nodes.push_back(json_integer<graph::NodeId>(node));
    } catch (const json::exception&) {
      bad_line(where, line, "holds a node that is no id");
    }
  }
  if (!entry.name.starts_with(kCleanUp)) {
    entry.cost_before_us = field<double>(object, "cost_before_us", where, line);
    entry.cost_after_us = field<double>(object, "cost_after_us", where, line);
  }
  if (object.contains("graph")) entry.graph = field<std::string>(object, "graph", where, line);
  if (!object.contains("marks")) return entry;
  for (const std::string& name : field<std::vector<std::string>>(object, "marks", where, line)) {
    const auto mark = mark_from_name(name);
    if (!mark) bad_line(where, line, "holds a mark that is not known");
    entry.marks.push_back(*mark);
  }
  return entry;
}

std::vector<json> parse_lines(std::string_view text, const std::string& where) {
  std::vector<json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) bad_line(where, lines.size() + 1, "ends in the middle of a line");
    lines.push_back(json::parse(text.substr(at, end - at), nullptr, false));
    if (!lines.back().is_object()) bad_line(where, lines.size(), "is no JSON object");
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string RewriteLog::to_text() const {
  json header{{"regraft_log", kFormat},
              {"version", version},
              {"input_sha256", input_sha256},
              {"rule_set", rule_set},
              {"result", result}};
  if (!domains.empty()) header["domains"] = domains;
  if (!fixed.empty()) header["fixed"] = fixed;
  std::string text = header.dump() + "\n";
  for (const LogEntry& entry : entries) text += entry_json(entry).dump() + "\n";
  return text + json{{"entries", entries.size()}}.dump() + "\n";
}

RewriteLog RewriteLog::parse(std::string_view text, const std::string& where) {
  const std::vector<json> lines = parse_lines(text, where);
  if (lines.size() < 2) bad_line(where, lines.size() + 1, "is too short");
  if (field<std::int64_t>(lines[0], "regraft_log", where, 1) != kFormat)
    throw RuleError("has another format of rewrite logs", where + ":1",
                    "use the version of regraft that wrote it");
  RewriteLog log;
  log.version = field<std::string>(lines[0], "version", where, 1);
  log.input_sha256 = field<std::string>(lines[0], "input_sha256", where, 1);
  log.rule_set = field<std::string>(lines[0], "rule_set", where, 1);
  log.result = field<std::string>(lines[0], "result", where, 1);
  if (lines[0].contains("domains"))
    log.domains = field<std::vector<std::string>>(lines[0], "domains", where, 1);
  if (lines[0].contains("fixed"))
    log.fixed = field<std::map<std::string, std::int64_t>>(lines[0], "fixed", where, 1);
  if (log.result != "rewritten" && log.result != "input" && log.result != "re-export")
    bad_line(where, 1, "has a result that is not known");
  if (log.result != "rewritten" && lines.size() != 2) bad_line(where, 2, "rewrites what was not rewritten");
  for (std::size_t i = 1; i + 1 < lines.size(); ++i)
    log.entries.push_back(parse_entry(lines[i], where, i + 1));
  if (field<std::uint64_t>(lines.back(), "entries", where, lines.size()) != log.entries.size())
    bad_line(where, lines.size(), "announces another number of entries");
  return log;
}

RewriteLog RewriteLog::load(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

std::size_t RewriteLog::rule_count() const {
  return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [](const LogEntry& entry) {
    return !entry.name.starts_with(kCleanUp);
  }));
}

std::size_t RewriteLog::inlined_count() const {
  return static_cast<std::size_t>(std::ranges::count(entries, kInlineStep, &LogEntry::name));
}

namespace {

[[noreturn]] void differs(std::size_t at, const std::string& problem) {
  throw RuleError("entry " + std::to_string(at) + ": " + problem, "rewrite log",
                  "it belongs to another model or version");
}

bool is_rule(const LogEntry& entry) {
  return !entry.name.starts_with(kCleanUp);
}

}  // namespace

Replayer::Replayer(const RewriteLog& log, NamedGraphs graphs, const RuleSet& rules, std::size_t count)
    : log_(log), graphs_(std::move(graphs)), rules_(rules), done_(std::min(count, log.inlined_count())) {
  if (log.rule_set != rules.hash().hex())
    throw RuleError("was written with another rule set", "rewrite log",
                    "replay it with the rules it was made with");
  const auto cleaned = static_cast<std::size_t>(
      std::find_if(log.entries.begin(), log.entries.end(), is_rule) - log.entries.begin());
  clean_up_all(count < cleaned ? count : SIZE_MAX);
  for (const auto& [path, graph] : graphs_) rewriters_.emplace_back(*graph, rules);
}

void Replayer::clean_up_all(std::size_t limit) {
  for (const auto& [path, graph] : graphs_) {
    if (done_ == limit) return;
    for (const CleanupStep& step : clean_up(*graph, rules_, limit - done_)) {
      const LogEntry expected{step.name, {step.node}, 0, 0, path};
      if (done_ >= log_.entries.size() || log_.entries[done_] != expected)
        differs(done_, "clean-up goes another way");
      ++done_;
    }
  }
}

void Replayer::next() {
  const LogEntry& entry = log_.entries.at(done_);
  const auto number = rules_.find(entry.name);
  if (!number) differs(done_, "there is no rule '" + entry.name + "'");
  const auto named = std::ranges::find(graphs_, entry.graph, &NamedGraphs::value_type::first);
  if (named == graphs_.end()) differs(done_, "there is no graph '" + entry.graph + "'");
  Match match{static_cast<std::uint32_t>(*number), {}};
  match.nodes.assign(entry.nodes.begin(), entry.nodes.end());
  try {
    rewriters_[static_cast<std::size_t>(named - graphs_.begin())].apply(match);
  } catch (const RuleError& error) {
    differs(done_, error.what());
  }
  ++done_;
}

void replay(const RewriteLog& log, const NamedGraphs& graphs, const RuleSet& rules, std::size_t count) {
  Replayer replayer(log, graphs, rules, count);
  while (replayer.done() < std::min(count, log.entries.size())) replayer.next();
}

}
