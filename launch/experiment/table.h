#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/stats.h"

namespace regraft::launch {

/// A result, or a description of results, that cannot be read.
class ExperimentError : public Error {
 public:
  using Error::Error;
};

/// Rows of text under named columns: what an experiment's CSV files hold.
class Table {
 public:
  explicit Table(std::vector<std::string> columns = {}) : columns_(std::move(columns)) {}

  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  /// Throws ExperimentError naming the columns that there are.
  std::size_t column(std::string_view name) const;
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells);
  /// The cell as a number; nothing where it is empty or no number.
  std::optional<double> number(std::size_t row, std::size_t column) const;

  /// RFC 4180, with a header line.
  std::string to_csv() const;
  std::string to_markdown() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Reads what to_csv() wrote, or any CSV with a header line. `source` names it in errors. Throws
/// ExperimentError on a row of another length or an open quote.
Table parse_csv(std::string_view text, const std::string& source);

/// The values of one column by the values of others, in order of their first rows. Cells that hold no number
/// are left out.
struct Group {
  std::vector<std::string> key;
  std::vector<double> values;
};
std::vector<Group> group_by(const Table& table, const std::vector<std::string>& by, const std::string& value);

/// One row a group: its key, the count, the interquartile mean and its 95 % bootstrap interval
/// (core/base/stats.h). Columns: `by`, then n, iqm, low, high.
Table summarise(const Table& table, const std::vector<std::string>& by, const std::string& value);
/// The same of several values one below the other; of more than one, column `figure` says which.
Table summarise(const Table& table, const std::vector<std::string>& by,
                const std::vector<std::string>& values);

/// Sums of `value`: a row for each value of `row`, a column for each of `column`, both in the order in which
/// they first come; empty cells where there is none.
Table crossed(const Table& table, const std::string& row, const std::string& column,
              const std::string& value);

/// A number as tables show it: at most six digits that mean something.
std::string show(double value);

}  // namespace regraft::launch
