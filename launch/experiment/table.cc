#include "launch/experiment/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

namespace regraft::launch {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + quoted(cells[i]);
  return line + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += ' ';
    for (const char c : cell) line += c == '|' ? std::string("\\|") : std::string(1, c);
    line += " |";
  }
  return line + "\n";
}

/// Takes CSV apart, one record a call.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  bool done() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  std::vector<std::string> record() {
    std::vector<std::string> cells{cell()};
    while (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      cells.push_back(cell());
    }
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    return cells;
  }

 private:
  std::string cell() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_cell();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(value);
  }

  std::string quoted_cell() {
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        value += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        value += '"';
        ++at_;
      } else {
        ++at_;
        return value;
      }
    }
    throw ExperimentError("a quote is never closed", source_ + ":" + std::to_string(line_),
                          "the file is cut off: remove it and run the step again");
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

std::size_t Table::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end())
    throw ExperimentError("there is no column '" + std::string(name) + "'", "a table of results",
                          "it has " + joined(columns_));
  return static_cast<std::size_t>(found - columns_.begin());
}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw ExperimentError("a row has " + std::to_string(cells.size()) + " cells", "a table of results",
                          "its columns are " + joined(columns_));
  rows_.push_back(std::move(cells));
}

std::optional<double> Table::number(std::size_t row, std::size_t column) const {
  const std::string& cell = rows_[row][column];
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string Table::to_csv() const {
  std::string text = csv_line(columns_);
  for (const auto& row : rows_) text += csv_line(row);
  return text;
}

std::string Table::to_markdown() const {
  std::string text = markdown_line(columns_) + "|";
  for (std::size_t i = 0; i < columns_.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : rows_) text += markdown_line(row);
  return text;
}

Table parse_csv(std::string_view text, const std::string& source) {
  CsvReader reader(text, source);
  if (reader.done()) throw ExperimentError("the file is empty", source, "run the step that writes it again");
  Table table(reader.record());
  while (!reader.done()) {
    const std::size_t line = reader.line();
    std::vector<std::string> cells = reader.record();
    if (cells.size() != table.columns().size())
      throw ExperimentError(
          "a row has " + std::to_string(cells.size()) + " cells", source + ":" + std::to_string(line),
          "the header names " + std::to_string(table.columns().size()) + ": " + joined(table.columns()));
    table.add(std::move(cells));
  }
  return table;
}

std::vector<Group> group_by(const Table& table, const std::vector<std::string>& by,
                            const std::string& value) {
  std::vector<std::size_t> columns;
  for (const std::string& name : by) columns.push_back(table.column(name));
  const std::size_t value_column = table.column(value);
  std::vector<Group> groups;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    const std::optional<double> number = table.number(row, value_column);
    if (!number) continue;
    std::vector<std::string> key;
    for (const std::size_t column : columns) key.push_back(table.rows()[row][column]);
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& each) { return each.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{std::move(key), {}});
    group->values.push_back(*number);
  }
  return groups;
}

Table summarise(const Table& table, const std::vector<std::string>& by, const std::string& value) {
  std::vector<std::string> columns = by;
  for (const char* name : {"n", "iqm", "low", "high"}) columns.emplace_back(name);
  Table summary(std::move(columns));
  for (const Group& group : group_by(table, by, value)) {
    Rng rng(0, "bootstrap");
    const Interval iqm = bootstrap_interquartile_mean({group.values}, rng);
    std::vector<std::string> cells = group.key;
    cells.push_back(std::to_string(group.values.size()));
    for (const double figure : {iqm.estimate, iqm.low, iqm.high}) cells.push_back(show(figure));
    summary.add(std::move(cells));
  }
  return summary;
}

Table summarise(const Table& table, const std::vector<std::string>& by,
                const std::vector<std::string>& values) {
  if (values.size() == 1) return summarise(table, by, values.front());
  std::vector<std::string> columns = by;
  for (const char* name : {"figure", "n", "iqm", "low", "high"}) columns.emplace_back(name);
  Table all(std::move(columns));
  for (const std::string& value : values) {
    const Table one = summarise(table, by, value);
    for (std::vector<std::string> cells : one.rows()) {
      cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(by.size()), value);
      all.add(std::move(cells));
    }
  }
  return all;
}

Table crossed(const Table& table, const std::string& row, const std::string& column,
              const std::string& value) {
  std::vector<std::string> columns{row}, rows;
  std::map<std::pair<std::string, std::string>, double> sums;
  const auto remember = [](std::vector<std::string>& all, const std::string& name, std::size_t from) {
    if (std::find(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(), name) == all.end())
      all.push_back(name);
  };
  for (const Group& group : group_by(table, {row, column}, value)) {
    remember(rows, group.key[0], 0);
    remember(columns, group.key[1], 1);
    for (const double each : group.values) sums[{group.key[0], group.key[1]}] += each;
  }
  Table result(columns);
  for (const std::string& name : rows) {
    std::vector<std::string> cells{name};
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const auto sum = sums.find({name, columns[i]});
      cells.push_back(sum == sums.end() ? "" : show(sum->second));
    }
    result.add(std::move(cells));
  }
  return result;
}

std::string show(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace regraft::launch
