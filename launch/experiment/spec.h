#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launch/experiment/table.h"

namespace regraft::launch {

/// One command of an experiment, run for every combination of the values of `over`.
struct ExperimentStep {
  std::string name;
  std::vector<std::string> over;                                       // keys of the matrix; in order
  std::vector<std::pair<std::string, std::vector<std::string>>> only;  // of these keys no other values
  /// Arguments of the program. {KEY} is a value; {out} the step's own folder; {STEP} the folder of an earlier
  /// step for the same values; an argument with {all:STEP} is repeated for every run of that step that agrees
  /// with these values. A brace before anything but a letter is a brace.
  std::vector<std::string> run;
  std::vector<std::string> resume;  // added to `run` where an earlier attempt left something behind
  /// Its runs lie beside the experiments' folders, each named by its command, so that experiments with the
  /// same command share the run: one training for the curve, the validity and the comparison.
  bool shared = false;
  bool borrowed = false;  // of another experiment, within whose budget it is
};

/// What of a step's output becomes rows of a table: columns `over` of the step, then these.
struct ExperimentRows {
  std::string table;
  std::string step;
  std::string file;  // in the step's folder: *.json, *.csv, or a folder of TensorBoard events
  /// JSON: pointer (RFC 6901) to an array or object whose items are rows; empty: the whole file is one row.
  std::string each;
  /// JSON: the file is a list, and of its items those count in which each pointer has one of these values;
  /// `each` is then a pointer in such an item, empty for the item itself.
  std::vector<std::pair<std::string, std::vector<std::string>>> where;
  /// JSON: column name and pointer in the item, with an optional ":mean", ":max", ":min", ":last", ":count"
  /// over an array; "#key" is the item's key in an object; "=TEXT" is that text. CSV: column name and the
  /// file's column. Events: column name and one of step, tag, value, or @TAG: what that curve has at the same
  /// step.
  std::vector<std::pair<std::string, std::string>> columns;
  std::string tags;  // events: only tags that start so
};

struct ExperimentPlot {
  enum class Kind { lines, bars, heat, scatter };
  Kind kind = Kind::lines;
  std::string name, title, table;
  std::string x, y, series;  // columns; heat: y is a category too, and `value` the shade
  std::string value;
  std::string x_label, y_label;
};

/// A table of the report: interquartile means of `values` by other columns.
struct ExperimentSummary {
  std::string name, title, table;
  std::vector<std::string> by, values;
};

/// A table of the report: how far methods stay behind the best known (gap.h).
struct ExperimentGap {
  std::string name, title, table;
  std::vector<std::string> against;  // further tables whose rows count for the best known
  std::string by, method, value;     // columns of all these tables; value: returns, 1 - cost / initial cost
  std::vector<std::string> of;       // values of `method`
};

/// An experiment as data: configs/experiments/NAME.toml.
struct ExperimentSpec {
  std::string name, title, question;
  double cpu_minutes = 0;           // budget of all steps but those borrowed
  std::vector<std::string> unpack;  // model files, made from ../NAME.xz where missing
  std::vector<std::pair<std::string, std::vector<std::string>>> matrix;  // key and its values, in order
  std::map<std::string, std::string> values;                             // {KEY} that does not vary
  std::vector<ExperimentStep> steps;
  std::vector<ExperimentRows> rows;
  std::vector<ExperimentPlot> plots;
  std::vector<ExperimentSummary> summaries;
  std::vector<ExperimentGap> gaps;

  const ExperimentStep& step(const std::string& name) const;
};

/// Reads and checks a description; with `small`, the values of its table [small] replace those of [matrix]
/// and [values]; the full form is checked too. Throws ExperimentError on an unknown key or name, or on a
/// [from] that leads back to its file, with the file and line.
ExperimentSpec load_experiment(const std::filesystem::path& path, bool small);

}  // namespace regraft::launch
