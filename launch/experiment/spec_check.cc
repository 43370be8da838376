#include "launch/experiment/spec_check.h"

#include <algorithm>

namespace regraft::launch {
namespace {

bool has_column(const ExperimentSpec& spec, const std::string& table, const std::string& column) {
  return std::any_of(spec.rows.begin(), spec.rows.end(), [&](const ExperimentRows& rows) {
    const std::vector<std::string>& keys = spec.step(rows.step).over;
    return rows.table == table && (std::find(keys.begin(), keys.end(), column) != keys.end() ||
                                   std::any_of(rows.columns.begin(), rows.columns.end(),
                                               [&](const auto& each) { return each.first == column; }));
  });
}

}  // namespace

void check_names(const ExperimentSpec& spec, const std::string& source) {
  const auto require = [&](bool holds, const std::string& problem, const std::string& remedy) {
    if (!holds) throw ExperimentError(problem, source, remedy);
  };
  require(!spec.steps.empty(), "the experiment has no step", "add [[step]]");
  for (const ExperimentStep& step : spec.steps)
    for (const std::string& key : step.over)
      require(std::any_of(spec.matrix.begin(), spec.matrix.end(),
                          [&](const auto& each) { return each.first == key; }),
              "step '" + step.name + "' goes over '" + key + "', which is not in [matrix]",
              "add it there or leave it out");
  for (const ExperimentStep& step : spec.steps) {
    for (const auto& [key, values] : step.only)
      require(std::ranges::find(step.over, key) != step.over.end(),
              "step '" + step.name + "' wants only some values of '" + key + "', which it does not go over",
              "add the key to over, or leave it out");
    require(std::ranges::count(spec.steps, step.name, &ExperimentStep::name) == 1,
            "there are two steps '" + step.name + "'", "give each a name of its own");
  }
  const auto has_table = [&](const std::string& name) {
    return std::any_of(spec.rows.begin(), spec.rows.end(),
                       [&](const ExperimentRows& rows) { return rows.table == name; });
  };
  for (const ExperimentRows& rows : spec.rows) spec.step(rows.step);
  for (const ExperimentPlot& plot : spec.plots)
    require(has_table(plot.table),
            "plot '" + plot.name + "' shows table '" + plot.table + "', which no [[rows]] fills",
            "name one that is filled");
  for (const ExperimentSummary& summary : spec.summaries)
    require(has_table(summary.table),
            "summary '" + summary.name + "' reads table '" + summary.table + "', which no [[rows]] fills",
            "name one that is filled");
  const auto require_column = [&](const std::string& table, const std::string& column,
                                  const std::string& by) {
    require(column.empty() || has_column(spec, table, column),
            by + " reads column '" + column + "' of table '" + table + "', which has none",
            "name a column of its [[rows]], or a key of their step");
  };
  for (const ExperimentPlot& plot : spec.plots)
    for (const std::string& column : {plot.x, plot.y, plot.series, plot.value})
      require_column(plot.table, column, "plot '" + plot.name + "'");
  for (const ExperimentSummary& summary : spec.summaries) {
    for (const std::string& column : summary.by)
      require_column(summary.table, column, "summary '" + summary.name + "'");
    for (const std::string& column : summary.values)
      require_column(summary.table, column, "summary '" + summary.name + "'");
  }
  for (const ExperimentGap& gap : spec.gaps) {
    std::vector<std::string> tables = gap.against;
    tables.push_back(gap.table);
    for (const std::string& table : tables) {
      require(has_table(table), "gap '" + gap.name + "' reads table '" + table + "', which no [[rows]] fills",
              "name one that is filled");
      for (const std::string& column : {gap.by, gap.method, gap.value})
        require_column(table, column, "gap '" + gap.name + "'");
    }
    require(!has_table(gap.name), "gap '" + gap.name + "' would overwrite the table of that name",
            "give it a name of its own");
  }
  for (const ExperimentSummary& summary : spec.summaries)
    require(!has_table(summary.name), "summary '" + summary.name + "' would overwrite the table of that name",
            "give it a name of its own");
}

void check_choices(const ExperimentSpec& spec, const std::string& source) {
  for (const ExperimentStep& step : spec.steps) {
    if (step.borrowed) continue;
    for (const auto& [key, values] : step.only) {
      const auto varied = std::ranges::find(spec.matrix, key, [](const auto& each) { return each.first; });
      if (varied == spec.matrix.end()) continue;
      for (const std::string& value : values)
        if (std::ranges::find(varied->second, value) == varied->second.end())
          throw ExperimentError("step '" + step.name + "' wants only '" + value + "' of '" + key +
                                    "', which [matrix] does not have",
                                source, "name a value of the full form's [matrix], or add it there");
    }
  }
}

}  // namespace regraft::launch
