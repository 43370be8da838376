#pragma once

#include "launch/experiment/run.h"

namespace regraft::launch {

/// What an experiment's folder says of itself, beside its tables and pictures: OUT/experiment.json.
struct ExperimentRecord {
  std::string name, title, question;
  bool small = false, complete = false;
  double cpu_minutes = 0, budget_cpu_minutes = 0, borrowed_cpu_minutes = 0;
  std::vector<RunRecord> runs;
  std::vector<std::pair<std::string, std::string>> plots,
      summaries;  // file stem and title; gaps are summaries
};

/// Draws the plots (PLOT.svg; of a heat map what it shows too, as PLOT_figures.csv), writes the summaries and
/// gaps (NAME.csv) and the record. A summary of a table without rows is left out, and a plot without points.
ExperimentRecord publish(const ExperimentSpec& spec, const ExperimentResult& result, bool small,
                         const std::filesystem::path& out);

/// "3.1 of 5 CPU-minutes, beside 40.2 of steps borrowed"; with ", over the declared budget" where they are.
std::string describe_use(const ExperimentRecord& record);

/// Reads OUT/experiment.json. Throws FileError, ExperimentError.
ExperimentRecord load_record(const std::filesystem::path& out);

}  // namespace regraft::launch
