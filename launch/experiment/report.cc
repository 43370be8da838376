#include "launch/experiment/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/event_reader.h"
#include "core/base/file.h"
#include "launch/experiment/html.h"
#include "launch/experiment/plot.h"
#include "launch/experiment/publish.h"
#include "launch/model_based.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void add_experiment(HtmlPage& page, const fs::path& folder) {
  const ExperimentRecord record = load_record(folder);
  page.section(record.title);
  page.paragraph(record.question);
  std::size_t done = 0;
  for (const RunRecord& run : record.runs) done += run.failure.empty() ? 1 : 0;
  page.paragraph(std::string(record.small ? "Small form. " : "") + std::to_string(done) + " of " +
                 std::to_string(record.runs.size()) + " runs done, " + describe_use(record) + ".");
  for (const RunRecord& run : record.runs)
    if (!run.failure.empty()) page.paragraph("Not done: " + run.label + ": " + run.failure);
  for (const auto& [name, title] : record.summaries) {
    const fs::path file = folder / (name + ".csv");
    page.caption(title);
    page.table(parse_csv(read_file(file), file.string()));
  }
  for (const auto& [name, title] : record.plots) page.picture(read_file(folder / (name + ".svg")));
  std::string commands;
  for (const RunRecord& run : record.runs) {
    commands += "# " + run.label + ": " + (run.failure.empty() ? show(run.seconds) + " s" : run.failure) +
                "\nregraft";
    for (const std::string& argument : run.arguments) commands += " " + argument;
    commands += "\n";
  }
  page.details("Commands and their times", commands);
}

/// The curves that belong together: those whose tags have the same first part (return/..., ppo/...).
std::map<std::string, Table> curves_by_group(const fs::path& events) {
  std::map<std::string, Table> groups;
  for (const auto& [tag, points] : read_scalars(events)) {
    const std::size_t slash = tag.find('/');
    const bool alone = slash == std::string::npos || tag.starts_with("ppo/");
    Table& table = groups.try_emplace(alone ? tag : tag.substr(0, slash), Table({"update", "value", "curve"}))
                       .first->second;
    for (const ScalarPoint& point : points)
      table.add({std::to_string(point.step), show(point.value), alone ? tag : tag.substr(slash + 1)});
  }
  return groups;
}

void add_curves(HtmlPage& page, const fs::path& events, const std::string& part) {
  for (const auto& [group, table] : curves_by_group(events)) {
    ExperimentPlot plot;
    plot.name = plot.title = part + group;
    plot.x = "update";
    plot.y = "value";
    plot.series = "curve";
    const TempDir drawn("regraft-report");
    draw(plot_script(plot, table), drawn.path() / "plot.svg");
    page.picture(read_file(drawn.path() / "plot.svg"));
  }
}

void add_run(HtmlPage& page, const learner::RunFolder& folder, const std::string& name) {
  page.section("Run " + name);
  if (fs::exists(folder.summary())) page.details("Summary", read_file(folder.summary()));
  add_curves(page, folder.events(), "");
  // The fit of a world model has two parts, each over an x of its own (learner/world_curves.h).
  for (const char* part : {"collect", "fit"})
    if (fs::exists(folder.events() / part))
      add_curves(page, folder.events() / part, std::string(part) + ": ");
  page.details("Config", read_file(folder.config()));
}

/// A job of several runs, each with curves or without.
void add_rounds(HtmlPage& page, const learner::RunFolder& job) {
  const std::string name = job.root.filename().string();
  page.section("Run " + name);
  if (fs::exists(job.summary())) page.details("Summary", read_file(job.summary()));
  page.details("Config", read_file(job.config()));
  const std::vector<fs::path> rounds = rounds_of(job);
  for (const fs::path& round : rounds)
    if (const learner::RunFolder dream{round / "dream"}; fs::exists(dream.events()))
      add_run(page, dream, name + "/" + round.filename().string() + "/dream");
}

}  // namespace

std::string report_html(const std::vector<fs::path>& folders) {
  HtmlPage page("regraft report");
  for (const fs::path& path : folders) {
    const learner::RunFolder run{path};
    if (fs::exists(path / "experiment.json"))
      add_experiment(page, path);
    else if (fs::exists(run.config()) && fs::exists(run.events()))
      add_run(page, run, path.filename().string());
    else if (fs::exists(run.config()) && !rounds_of(run).empty())
      add_rounds(page, run);
    else
      throw ExperimentError("is neither an experiment's nor a run's folder", path.string(),
                            "name one that `regraft experiment --out` or `regraft train --run` made");
  }
  return page.finish();
}

}  // namespace regraft::launch
