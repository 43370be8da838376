#include "launch/experiment/run.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash.h"
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

/// The contents of the rules, their statuses, which decide what is loaded, and the devices.
std::string stamp_of_knowledge() {
  std::vector<fs::path> files;
  for (const char* folder : {"configs/rules", "configs/devices"})
    if (fs::exists(folder))
      for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".rules" || entry.path().extension() == ".toml" ||
            entry.path().filename() == "status.txt")
          files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) all += file.string() + " " + hash_text(read_file(file)).hex() + "\n";
  return "rules and devices " + hash_text(all).hex();
}

/// What a run depends on beside its arguments: rules and devices, earlier runs, the contents of its config
/// file.
std::vector<std::string> stamps_of(const PlannedRun& run, const std::vector<RunRecord>& records) {
  std::vector<std::string> stamps{stamp_of_knowledge()};
  for (const std::size_t input : run.inputs) stamps.push_back(records[input].stamp);
  for (std::size_t i = 0; i + 1 < run.arguments.size(); ++i)
    if (run.arguments[i] == "--config" && fs::exists(run.arguments[i + 1]))
      stamps.push_back(run.arguments[i + 1] + " " + hash_text(read_file(run.arguments[i + 1])).hex());
  return stamps;
}

/// Whether an attempt came so far that there is something to resume, beside its log and what is known of it.
bool left_something(const fs::path& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(), [](const auto& entry) {
    return entry.path().filename() != "log.txt" && entry.path().filename() != "started.json";
  });
}

/// Seconds and CPU-minutes of earlier attempts that did not come to an end.
struct Spent {
  double seconds = 0, cpu_minutes = 0;
};

std::optional<RunRecord> earlier_record(const PlannedRun& run, const std::string& label,
                                        const std::vector<std::string>& inputs) {
  if (!fs::exists(record_path(run))) return std::nullopt;
  const json saved = json::parse(read_file(record_path(run)), nullptr, false);
  if (!saved.is_object() || saved.value("arguments", json()) != json(run.arguments) ||
      saved.value("inputs", json()) != json(inputs))
    return std::nullopt;
  return RunRecord{label, run.arguments, saved.value("seconds", 0.0), saved.value("cpu_minutes", 0.0),
                   "",    true,          saved.value("stamp", "")};
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

/// What an attempt that did not end left behind, where it was one of the same command on the same inputs.
std::optional<Spent> earlier_attempt(const fs::path& started, const PlannedRun& run,
                                     const std::vector<std::string>& inputs) {
  if (!fs::exists(started)) return std::nullopt;
  const json saved = json::parse(read_file(started), nullptr, false);
  if (!saved.is_object() || saved.value("arguments", json()) != json(run.arguments) ||
      saved.value("inputs", json()) != json(inputs))
    return std::nullopt;
  return Spent{saved.value("seconds", 0.0), saved.value("cpu_minutes", 0.0)};
}

RunRecord execute(const ExperimentSpec& spec, const PlannedRun& run, const ExperimentOptions& options,
                  const std::vector<std::string>& inputs, const std::stop_token& stopped) {
  const fs::path log = run.folder / "log.txt", started = run.folder / "started.json";
  const std::vector<std::string>& resume = spec.steps[run.step].resume;
  std::optional<Spent> before = earlier_attempt(started, run, inputs);
  if (resume.empty() || (before && !left_something(run.folder))) before.reset();
  if (!before) fs::remove_all(run.folder);
  fs::create_directories(run.folder);
  Spent spent = before.value_or(Spent{});
  json state{{"arguments", run.arguments}, {"inputs", inputs}};
  const auto save = [&](const fs::path& path) {
    state["seconds"] = spent.seconds;
    state["cpu_minutes"] = spent.cpu_minutes;
    write_file_atomic(path, state.dump(1) + "\n");
  };
  save(started);
  SpawnOptions spawn;
  spawn.argv = {options.program.string()};
  spawn.argv.insert(spawn.argv.end(), run.arguments.begin(), run.arguments.end());
  if (before) spawn.argv.insert(spawn.argv.end(), resume.begin(), resume.end());
  spawn.output = spawn.errors = Redirect::to_file(log);
  spawn.death_signal = SIGTERM;
  spawn.own_group = true;
  const SystemClock clock;
  const std::int64_t begin = clock.steady_ns();
  Child child(spawn);
  const ExitStatus status = wait_or_stop(child, stopped);
  spent.seconds += static_cast<double>(clock.steady_ns() - begin) / nanoseconds_per_second;
  spent.cpu_minutes += status.cpu_s / 60;
  RunRecord record{run.label(spec), run.arguments, spent.seconds, spent.cpu_minutes, "", false, ""};
  if (stopped.stop_requested()) {
    record.failure = "stopped";
  } else if (!status.ok()) {
    record.failure = status.describe() + "; " + log.string() + " ends:" + last_lines(log);
  } else {
    record.stamp = std::to_string(clock.wall_ns());
    state["stamp"] = record.stamp;
  }
  save(record.failure.empty() ? record_path(run) : started);
  return record;
}

/// Held while a run is looked up and made: experiments that share one wait for each other.
class FolderLock {
 public:
  FolderLock(const fs::path& folder, const std::stop_token& stopped) {
    constexpr auto pause = std::chrono::milliseconds(200);
    fs::create_directories(folder.parent_path());
    const fs::path path = folder.string() + ".lock";
    file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file_) throw ExperimentError("cannot be opened", path.string(), "make the folder writable");
    while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && !stopped.stop_requested())
      std::this_thread::sleep_for(pause);
  }

 private:
  FileDescriptor file_;
};

/// Why a run cannot be run: a stop, or a run that it reads from is not done.
std::string obstacle(const ExperimentSpec& spec, const std::vector<PlannedRun>& plan, const PlannedRun& run,
                     const std::vector<RunRecord>& records, const std::stop_token& stopped) {
  if (stopped.stop_requested()) return "not run";
  for (const std::size_t input : run.inputs)
    if (!records[input].failure.empty()) return "not run: needs " + plan[input].label(spec);
  return "";
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

/// Whether two are of one [[rows]], which may name several steps.
bool same_rows(const ExperimentRows& a, const ExperimentRows& b) {
  return a.table == b.table && a.file == b.file && a.each == b.each && a.where == b.where &&
         a.columns == b.columns;
}

/// Whether all that `where` names occurs; not asked before each of the steps has runs and all are done.
void check_wanted(const ExperimentSpec& spec, const ExperimentRows& rows, const std::vector<PlannedRun>& plan,
                  const std::vector<RunRecord>& records) {
  std::vector<fs::path> folders;
  for (const ExperimentRows& other : spec.rows) {
    if (!same_rows(other, rows)) continue;
    const std::size_t before = folders.size();
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (spec.steps[plan[i].step].name != other.step) continue;
      if (!records[i].failure.empty()) return;
      folders.push_back(plan[i].folder);
    }
    if (folders.size() == before) return;
  }
  require_wanted(rows, folders);
}

Table collect(const ExperimentSpec& spec, const std::string& name, const std::vector<PlannedRun>& plan,
              const std::vector<RunRecord>& records) {
  Table table(columns_of(spec, name));
  for (const ExperimentRows& rows : spec.rows)
    for (std::size_t i = 0; i < plan.size(); ++i)
      if (rows.table == name && spec.steps[plan[i].step].name == rows.step && records[i].failure.empty())
        add_rows(rows, plan[i], table);
  for (const ExperimentRows& rows : spec.rows)
    if (rows.table == name && !rows.where.empty()) check_wanted(spec, rows, plan, records);
  return table;
}

}  // namespace

bool ExperimentResult::complete() const {
  return std::all_of(runs.begin(), runs.end(), [](const RunRecord& run) { return run.failure.empty(); });
}

ExperimentResult run_experiment(const ExperimentSpec& spec, const ExperimentOptions& options,
                                const std::stop_token& stopped) {
  const std::vector<PlannedRun> plan = plan_runs(spec, options.out);
  fs::create_directories(options.out);
  for (const std::string& file : spec.unpack) unpack(file);
  ExperimentResult result;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::string label = plan[i].label(spec);
    const std::vector<std::string> inputs = stamps_of(plan[i], result.runs);
    const std::string why_not = obstacle(spec, plan, plan[i], result.runs, stopped);
    const FolderLock lock(plan[i].folder, stopped);
    std::optional<RunRecord> record = earlier_record(plan[i], label, inputs);
    if (!record && !why_not.empty()) record = RunRecord{label, plan[i].arguments, 0, 0, why_not, false, ""};
    if (!record) record = execute(spec, plan[i], options, inputs, stopped);
    options.report("[" + std::to_string(i + 1) + "/" + std::to_string(plan.size()) + "] " + label + ": " +
                   (!record->failure.empty() ? record->failure
                    : record->reused         ? "done before"
                                             : "done in " + show(record->seconds) + " s"));
    double& spent = spec.steps[plan[i].step].borrowed ? result.borrowed_cpu_minutes : result.cpu_minutes;
    spent += record->cpu_minutes;
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
