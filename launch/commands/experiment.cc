#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/file.h"
#include "launch/commands/commands.h"
#include "launch/experiment/publish.h"
#include "launch/signals.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  fs::path out;
  bool small = false, list = false, plan = false;
};

constexpr const char* kFolder = "configs/experiments";

std::vector<fs::path> descriptions() {
  std::vector<fs::path> files;
  if (fs::is_directory(kFolder))
    for (const fs::directory_entry& entry : fs::directory_iterator(kFolder))
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_description(const std::string& name) {
  if (name.ends_with(".toml")) return name;
  const fs::path path = fs::path(kFolder) / (name + ".toml");
  if (fs::exists(path)) return path;
  throw UsageError(
      "there is no experiment '" + name + "'", kFolder,
      "see `regraft experiment --list`, from the folder that holds configs/, or give a .toml file");
}

int list() {
  for (const fs::path& path : descriptions()) {
    const ExperimentSpec spec = load_experiment(path, false);
    const ExperimentSpec small = load_experiment(path, true);
    std::printf("%-24s %4zu runs, %6.0f CPU-minutes (small %3zu, %4.0f)  %s\n", spec.name.c_str(),
                plan_runs(spec, "").size(), spec.cpu_minutes, plan_runs(small, "").size(), small.cpu_minutes,
                spec.title.c_str());
  }
  return kDone;
}

int print_plan(const std::vector<PlannedRun>& plan) {
  for (const PlannedRun& run : plan) {
    std::printf("regraft");
    for (const std::string& argument : run.arguments) std::printf(" %s", argument.c_str());
    std::printf("\n");
  }
  return kDone;
}

int experiment(const Options& options) {
  if (options.list) return list();
  const ExperimentSpec spec = load_experiment(find_description(options.name), options.small);
  const fs::path out = !options.out.empty()
                           ? options.out
                           : fs::path("results/experiments") / (spec.name + (options.small ? "-small" : ""));
  if (options.plan) return print_plan(plan_runs(spec, out));
  std::stop_source stop;
  const WorkerSignals signals([&] { stop.request_stop(); }, [] {});
  const ExperimentOptions how{fs::read_symlink("/proc/self/exe"), out,
                              [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }};
  const ExperimentResult result = run_experiment(spec, how, stop.get_token());
  const ExperimentRecord record = publish(spec, result, options.small, out);
  for (const auto& [name, title] : record.summaries) {
    const fs::path file = out / (name + ".csv");
    std::printf("%s\n%s\n", title.c_str(), parse_csv(read_file(file), file.string()).to_markdown().c_str());
  }
  std::printf("%s; tables and plots: %s; a page of them: regraft report %s -o report.html\n",
              describe_use(record).c_str(), out.c_str(), out.c_str());
  return result.complete() ? kDone : kFailed;
}

}  // namespace

void add_experiment(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "experiment", "run an experiment of configs/experiments: tables, plots; what is done is kept");
  CLI::Option* name = command->add_option("NAME", options->name, "its name, or a .toml file");
  command->add_option("--out", options->out, "its folder (default results/experiments/NAME)");
  command->add_flag("--small", options->small, "its small form: fewer values, less time");
  command->add_flag("--plan", options->plan, "print its commands and run none");
  command->add_flag("--list", options->list, "the experiments that there are")->excludes(name);
  command->callback([options, &action] {
    if (options->name.empty() && !options->list) throw CLI::RequiredError("NAME or --list");
    action = [options] { return experiment(*options); };
  });
}

}  // namespace regraft::launch
