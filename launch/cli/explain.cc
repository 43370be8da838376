#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "launch/call/call_files.h"
#include "launch/cli/commands.h"
#include "launch/graphs/log_replay.h"
#include "launch/optimise/bisect.h"

namespace regraft::launch {
namespace {

struct ExplainArguments {
  std::filesystem::path log;
  std::optional<std::filesystem::path> model, json;
  std::filesystem::path rules = "configs/rules";
  std::string check;
};

std::vector<std::string> ids_of(const rules::RewriteLog& log) {
  std::vector<std::string> places;
  for (const rules::LogEntry& entry : log.entries) {
    std::vector<std::string> ids;
    for (const graph::NodeId id : entry.nodes) ids.push_back(std::to_string(id));
    places.push_back((entry.graph.empty() ? "" : entry.graph + ": ") + "nodes " + join(ids, ", "));
  }
  return places;
}

bool is_rule(const rules::LogEntry& entry) {
  return entry.cost_before_us > 0;
}

/// What each rule gained over all of its uses, the best first.
void print_totals(const rules::RewriteLog& log) {
  std::map<std::string, std::pair<int, double>> totals;
  for (const rules::LogEntry& entry : log.entries) {
    auto& [count, gain] = totals[entry.name];
    ++count;
    gain += entry.cost_after_us - entry.cost_before_us;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, total] : totals) order.emplace_back(total.second, name);
  std::sort(order.begin(), order.end());
  std::printf("\n%-36s %6s %14s\n", "rule", "times", "cost, us");
  for (const auto& [gain, name] : order)
    std::printf("%-36s %6d %+14.2f\n", name.c_str(), totals[name].first, gain);
}

void print(const rules::RewriteLog& log, const std::vector<std::string>& places) {
  std::printf("rewrite log of model %s, regraft %s: %zu clean-up steps, %zu rewrites\n",
              log.input_sha256.c_str(), log.version.c_str(), log.entries.size() - log.rule_count(),
              log.rule_count());
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const rules::LogEntry& entry = log.entries[i];
    if (is_rule(entry))
      std::printf("%5zu  %-32s %12.2f us %+10.2f  %s\n", i, entry.name.c_str(), entry.cost_after_us,
                  entry.cost_after_us - entry.cost_before_us, places[i].c_str());
    else
      std::printf("%5zu  %-32s %15s %10s  %s\n", i, entry.name.c_str(), "", "", places[i].c_str());
  }
  if (log.rule_count() > 0) print_totals(log);
}

nlohmann::json to_json(const rules::RewriteLog& log, const std::vector<std::string>& places) {
  nlohmann::json entries = nlohmann::json::array();
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const rules::LogEntry& entry = log.entries[i];
    nlohmann::json row{{"entry", i}, {"name", entry.name}, {"nodes", entry.nodes}, {"place", places[i]}};
    if (!entry.graph.empty()) row["graph"] = entry.graph;
    if (is_rule(entry)) {
      row["cost_before_us"] = entry.cost_before_us;
      row["cost_after_us"] = entry.cost_after_us;
    }
    entries.push_back(std::move(row));
  }
  return {{"input_sha256", log.input_sha256}, {"result", log.result}, {"entries", entries}};
}

int bisect(const ExplainArguments& options) {
  if (!options.model)
    throw UsageError("the model is missing", "--bisect", "give --model, the input that the log was made for");
  const LogReplay replay(*options.model, options.log, options.rules);
  const auto bad = bisect_log(replay, options.check);
  if (!bad) {
    std::printf("the check passes after all %zu rewrites\n", replay.log().entries.size());
    return kDone;
  }
  std::printf("first bad: entry %zu, %s at %s\n", *bad, replay.log().entries[*bad].name.c_str(),
              replay.places()[*bad].c_str());
  return kNotEquivalent;
}

int explain(ExplainArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("LOG", options.log);
  files.reads("--model", options.model);
  files.reads_rules("--rules", options.rules);
  if (!options.check.empty()) return bisect(options);
  const rules::RewriteLog log = rules::RewriteLog::load(options.log);
  const std::vector<std::string> places =
      options.model ? LogReplay(*options.model, options.log, options.rules).places() : ids_of(log);
  const std::string text = json_text(to_json(log, places), 2) + "\n";
  print(log, places);
  if (options.json) write_file_atomic(*options.json, text);
  return kDone;
}

}  // namespace

void add_explain(Command& program, Action& action) {
  auto options = std::make_shared<ExplainArguments>();
  Command* command =
      program.add_subcommand("explain", "what the rewrites of a log did, where, and at what cost");
  command->add_option("LOG", options->log, "a log that `regraft optimise --log` wrote")->required();
  command->add_option("--model", options->model,
                      "the model that was optimised: shows names of its nodes in place of numbers");
  command->add_option(
      "--bisect", options->check,
      "find the first rewrite after which this command fails; it is given the path of a model");
  command->add_option("--rules", options->rules, "the rules that the log was made with")
      ->capture_default_str();
  command->add_option(
      "--json", options->json,
      "write the list as JSON; - for standard output, and the table then goes to standard error");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

}
