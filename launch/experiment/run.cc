#include "launch/experiment/run.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "launch/experiment/extract.h"

namespace regraft::launch {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Says that a run is done, by which command, and what it took.
fs::path record_path(const PlannedRun& run) {
  return run.folder / "done.json";
}

std::optional<RunRecord> earlier_record(const PlannedRun& run, const std::string& label) {
  if (!fs::exists(record_path(run))) return std::nullopt;
  const json saved = json::parse(read_file(record_path(run)), nullptr, false);
  if (saved.is_discarded() || saved.value("arguments", json()) != json(run.arguments)) return std::nullopt;
  return RunRecord{label, run.arguments, saved.value("seconds", 0.0), saved.value("cpu_minutes", 0.0),
                   "",    true};
}

/// The end of a log, for a message.
std::string last_lines(const fs::path& log) {
  const std::string text = fs::exists(log) ? read_file(log) : "";
  std::size_t at = text.size();
  for (int line = 0; line < 4 && at != 0 && at != std::string::npos; ++line) at = text.rfind('\n', at - 1);
  return at == std::string::npos ? text : text.substr(at);
}

ExitStatus wait_or_stop(Child& child, const std::stop_token& stopped) {
  constexpr auto pause = std::chrono::milliseconds(200);
  constexpr auto grace = std::chrono::seconds(60);
  while (!stopped.stop_requested())
    if (const auto status = child.wait_for(pause)) return *status;
  return child.terminate(grace);
}

RunRecord execute(const ExperimentSpec& spec, const PlannedRun& run, const ExperimentOptions& options,
                  const std::stop_token& stopped) {
  RunRecord record{run.label(spec), run.arguments, 0, 0, "", false};
  const fs::path log = run.folder / "log.txt";
  const std::vector<std::string>& resume = spec.steps[run.step].resume;
  const fs::path started = run.folder / "started.json";
  const bool again = fs::exists(started) && !resume.empty() &&
                     json::parse(read_file(started), nullptr, false) == json(run.arguments);
  if (!again) fs::remove_all(run.folder);
  fs::create_directories(run.folder);
  write_file_atomic(started, json(run.arguments).dump() + "\n");
  SpawnOptions spawn;
  spawn.argv = {options.program.string()};
  spawn.argv.insert(spawn.argv.end(), run.arguments.begin(), run.arguments.end());
  if (again) spawn.argv.insert(spawn.argv.end(), resume.begin(), resume.end());
  spawn.output = spawn.errors = Redirect::to_file(log);
  spawn.death_signal = SIGTERM;
  spawn.own_group = true;
  const SystemClock clock;
  const std::int64_t begin = clock.steady_ns();
  Child child(spawn);
  const ExitStatus status = wait_or_stop(child, stopped);
  record.seconds = static_cast<double>(clock.steady_ns() - begin) / nanoseconds_per_second;
  record.cpu_minutes = status.cpu_s / 60;
  if (stopped.stop_requested()) {
    record.failure = "stopped";
  } else if (!status.ok()) {
    record.failure = status.describe() + "; " + log.string() + " ends:" + last_lines(log);
  } else {
    write_file_atomic(
        record_path(run),
        json{{"arguments", run.arguments}, {"seconds", record.seconds}, {"cpu_minutes", record.cpu_minutes}}
                .dump(1) +
            "\n");
  }
  return record;
}

/// Model files that tests and quickstart share: packed beside the folder they are unpacked into.
void unpack(const fs::path& file) {
  if (fs::exists(file)) return;
  const fs::path packed = file.parent_path().parent_path() / (file.filename().string() + ".xz");
  fs::create_directories(file.parent_path());
  AtomicFile target(file);
  const Captured output = capture_output({.argv = {"xz", "-dkc", packed.string()}});
  if (!output.status.ok())
    throw ExperimentError("cannot be unpacked: " + output.errors, packed.string(), "put the model there");
  target.write(output.output);
  target.commit();
}

/// The columns of all [[rows]] of a table: the keys of their steps, then what they name, each once.
std::vector<std::string> columns_of(const ExperimentSpec& spec, const std::string& table) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& name) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  };
  for (const ExperimentRows& rows : spec.rows)
    if (rows.table == table)
      for (const std::string& key : spec.step(rows.step).over) add(key);
  for (const ExperimentRows& rows : spec.rows)
    if (rows.table == table)
      for (const auto& [column, source] : rows.columns) add(column);
  return columns;
}

void add_rows(const ExperimentRows& rows, const PlannedRun& run, Table& table) {
  for (const std::vector<std::string>& cells : extract_rows(rows, run.folder)) {
    std::vector<std::string> line(table.columns().size());
    for (const auto& [key, value] : run.values) line[table.column(key)] = value;
    for (std::size_t i = 0; i < cells.size(); ++i) line[table.column(rows.columns[i].first)] = cells[i];
    table.add(std::move(line));
  }
}

Table collect(const ExperimentSpec& spec, const std::string& name, const std::vector<PlannedRun>& plan,
              const std::vector<RunRecord>& records) {
  Table table(columns_of(spec, name));
  for (const ExperimentRows& rows : spec.rows)
    for (std::size_t i = 0; i < plan.size(); ++i)
      if (rows.table == name && spec.steps[plan[i].step].name == rows.step && records[i].failure.empty())
        add_rows(rows, plan[i], table);
  return table;
}

}  // namespace

bool ExperimentResult::complete() const {
  return std::all_of(runs.begin(), runs.end(), [](const RunRecord& run) { return run.failure.empty(); });
}

ExperimentResult run_experiment(const ExperimentSpec& spec, const ExperimentOptions& options,
                                const std::stop_token& stopped) {
  const std::vector<PlannedRun> plan = plan_runs(spec, options.out);
  for (const std::string& file : spec.unpack) unpack(file);
  ExperimentResult result;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::string label = plan[i].label(spec);
    std::optional<RunRecord> record = earlier_record(plan[i], label);
    if (!record && stopped.stop_requested())
      record = RunRecord{label, plan[i].arguments, 0, 0, "not run", false};
    if (!record) record = execute(spec, plan[i], options, stopped);
    options.report("[" + std::to_string(i + 1) + "/" + std::to_string(plan.size()) + "] " + label + ": " +
                   (!record->failure.empty() ? record->failure
                    : record->reused         ? "done before"
                                             : "done in " + show(record->seconds) + " s"));
    result.cpu_minutes += record->cpu_minutes;
    result.runs.push_back(std::move(*record));
  }
  for (const ExperimentRows& rows : spec.rows) {
    const bool seen = std::any_of(result.tables.begin(), result.tables.end(),
                                  [&](const auto& each) { return each.first == rows.table; });
    if (seen) continue;
    Table table = collect(spec, rows.table, plan, result.runs);
    write_file_atomic(options.out / (rows.table + ".csv"), table.to_csv());
    result.tables.emplace_back(rows.table, std::move(table));
  }
  return result;
}

}  // namespace regraft::launch
