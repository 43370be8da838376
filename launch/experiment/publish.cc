#include "launch/experiment/publish.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/experiment/gap.h"
#include "launch/experiment/plot.h"

namespace regraft::launch {
namespace {

using nlohmann::json;
using Titles = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kRecordFile = "experiment.json";

const Table& table_of(const ExperimentResult& result, const std::string& name) {
  return std::find_if(result.tables.begin(), result.tables.end(),
                      [&](const auto& each) { return each.first == name; })
      ->second;
}

json to_json(const RunRecord& run) {
  return {{"label", run.label},
          {"arguments", run.arguments},
          {"seconds", run.seconds},
          {"cpu_minutes", run.cpu_minutes},
          {"failure", run.failure}};
}

/// Runs of before a curve was written have no figures for it.
bool has_points(const ExperimentPlot& plot, const Table& table) {
  const bool numbers_alone =
      plot.kind == ExperimentPlot::Kind::lines || plot.kind == ExperimentPlot::Kind::scatter;
  const std::size_t x = table.column(plot.x),
                    y = table.column(plot.kind == ExperimentPlot::Kind::heat ? plot.value : plot.y);
  for (std::size_t row = 0; row < table.rows().size(); ++row)
    if (table.number(row, y) && (!numbers_alone || table.number(row, x))) return true;
  return false;
}

void write_record(const ExperimentRecord& record, const std::filesystem::path& out) {
  json runs = json::array();
  for (const RunRecord& run : record.runs) runs.push_back(to_json(run));
  const json saved{{"name", record.name},
                   {"title", record.title},
                   {"question", record.question},
                   {"small", record.small},
                   {"complete", record.complete},
                   {"cpu_minutes", record.cpu_minutes},
                   {"budget_cpu_minutes", record.budget_cpu_minutes},
                   {"borrowed_cpu_minutes", record.borrowed_cpu_minutes},
                   {"runs", runs},
                   {"plots", record.plots},
                   {"summaries", record.summaries}};
  write_file_atomic(out / kRecordFile, saved.dump(1) + "\n");
}

}  // namespace

ExperimentRecord publish(const ExperimentSpec& spec, const ExperimentResult& result, bool small,
                         const std::filesystem::path& out) {
  ExperimentRecord record{spec.name,
                          spec.title,
                          spec.question,
                          small,
                          result.complete(),
                          result.cpu_minutes,
                          spec.cpu_minutes,
                          result.borrowed_cpu_minutes,
                          result.runs,
                          {},
                          {}};
  for (const ExperimentSummary& summary : spec.summaries) {
    const Table& table = table_of(result, summary.table);
    if (table.rows().empty()) continue;
    write_file_atomic(out / (summary.name + ".csv"), summarise(table, summary.by, summary.values).to_csv());
    record.summaries.emplace_back(summary.name, summary.title);
  }
  for (const ExperimentGap& gap : spec.gaps) {
    const Table table = gaps(gap, result.tables);
    if (table.rows().empty()) continue;
    write_file_atomic(out / (gap.name + ".csv"), table.to_csv());
    record.summaries.emplace_back(gap.name, gap.title);
  }
  write_record(record, out);  // a plot that cannot be drawn costs no figures
  for (const ExperimentPlot& plot : spec.plots) {
    const Table& table = table_of(result, plot.table);
    if (!has_points(plot, table)) continue;
    if (plot.kind == ExperimentPlot::Kind::heat) {
      const std::string name = plot.name + "_figures";
      write_file_atomic(out / (name + ".csv"), crossed(table, plot.y, plot.x, plot.value).to_csv());
      record.summaries.emplace_back(name, plot.title + ", in figures");
    }
    draw(plot_script(plot, table), out / (plot.name + ".svg"));
    record.plots.emplace_back(plot.name, plot.title);
  }
  write_record(record, out);
  return record;
}

std::string describe_use(const ExperimentRecord& record) {
  char used[120], borrowed[60] = "";
  const char* over = record.cpu_minutes > record.budget_cpu_minutes ? ", over the declared budget" : "";
  if (record.borrowed_cpu_minutes > 0)
    std::snprintf(borrowed, sizeof borrowed, ", beside %.1f of steps borrowed", record.borrowed_cpu_minutes);
  std::snprintf(used, sizeof used, "%.1f of %.0f CPU-minutes", record.cpu_minutes, record.budget_cpu_minutes);
  return std::string(used) + over + borrowed;
}

ExperimentRecord load_record(const std::filesystem::path& out) {
  try {
    const json saved = json::parse(read_file(out / kRecordFile));
    ExperimentRecord record;
    record.name = saved.at("name");
    record.title = saved.at("title");
    record.question = saved.at("question");
    record.small = saved.at("small");
    record.complete = saved.at("complete");
    record.cpu_minutes = saved.at("cpu_minutes");
    record.budget_cpu_minutes = saved.at("budget_cpu_minutes");
    record.borrowed_cpu_minutes = saved.value("borrowed_cpu_minutes", 0.0);  // not in older ones
    for (const json& run : saved.at("runs"))
      record.runs.push_back({run.at("label"), run.at("arguments"), run.at("seconds"), run.at("cpu_minutes"),
                             run.at("failure"), true, ""});
    record.plots = saved.at("plots").get<Titles>();
    record.summaries = saved.at("summaries").get<Titles>();
    return record;
  } catch (const json::exception& error) {
    throw ExperimentError(error.what(), (out / kRecordFile).string(),
                          "run the experiment again: what is done is kept");
  }
}

}  // namespace regraft::launch
