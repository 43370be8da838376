#include "launch/experiment/extract.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/event_reader.h"
#include "core/base/file.h"

namespace regraft::launch {
namespace {

using nlohmann::json;
using Cells = std::vector<std::vector<std::string>>;

[[noreturn]] void missing(const std::string& what, const std::filesystem::path& file) {
  throw ExperimentError(what, file.string(), "correct [[rows]] of the experiment, or run the step again");
}

double reduce(const json& values, const std::string& how, const std::filesystem::path& file) {
  constexpr const char* known[] = {"count", "mean", "max", "min", "last"};
  if (std::find(std::begin(known), std::end(known), how) == std::end(known))
    missing("unknown reduction ':" + how + "' (mean, max, min, last, count)", file);
  if (how == "count") return static_cast<double>(values.size());
  if (!values.is_array() || values.empty()) missing("':" + how + "' needs a list of numbers", file);
  std::vector<double> numbers;
  for (const json& value : values) {
    if (!value.is_number()) missing("':" + how + "' met what is no number: " + value.dump(), file);
    numbers.push_back(value.get<double>());
  }
  if (how == "mean") return mean(numbers);
  if (how == "max") return *std::max_element(numbers.begin(), numbers.end());
  if (how == "min") return *std::min_element(numbers.begin(), numbers.end());
  return numbers.back();
}

std::string cell_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  if (value.is_number_float()) return show(value.get<double>());
  return value.dump();
}

/// A column that is the same text in every row.
bool is_text(const std::string& source) {
  return source.starts_with('=');
}

std::string json_cell(const json& item, const std::string& key, const std::string& source,
                      const std::filesystem::path& file) {
  if (source == "#key") return key;
  if (is_text(source)) return source.substr(1);
  const std::size_t colon = source.rfind(':');
  const std::string path = source.substr(0, colon);
  const json::json_pointer pointer(path);
  if (!item.contains(pointer)) missing("there is no '" + path + "' in it", file);
  const json& value = item.at(pointer);
  return colon == std::string::npos ? cell_text(value) : show(reduce(value, source.substr(colon + 1), file));
}

bool agrees(const json& item, const ExperimentRows& rows, const std::filesystem::path& file) {
  return std::all_of(rows.where.begin(), rows.where.end(), [&](const auto& wanted) {
    return std::ranges::find(wanted.second, json_cell(item, "", wanted.first, file)) != wanted.second.end();
  });
}

/// What `each` points to in the whole file or, with `where`, in those items of the file's list that agree.
std::vector<json> lists_in(const ExperimentRows& rows, const json& root, const std::filesystem::path& file) {
  if (!rows.where.empty() && !root.is_array()) missing("'where' needs a list", file);
  const json::json_pointer pointer(rows.each);
  std::vector<json> lists;
  for (const json& item : rows.where.empty() ? json::array({root}) : root) {
    if (!rows.where.empty() && !agrees(item, rows, file)) continue;
    if (!item.contains(pointer)) missing("there is no '" + rows.each + "' in it", file);
    const json& list = item.at(pointer);
    const bool whole = rows.each.empty() && (list.is_object() || !rows.where.empty());
    lists.push_back(whole || !list.is_structured() ? json::array({list}) : list);
  }
  if (lists.empty()) missing("none of its items is as 'where' wants it", file);
  return lists;
}

Cells from_json(const ExperimentRows& rows, const std::filesystem::path& file) {
  Cells cells;
  for (const json& list : lists_in(rows, json::parse(read_file(file)), file)) {
    for (const auto& [key, item] : list.items()) {
      auto& line = cells.emplace_back();
      for (const auto& [name, source] : rows.columns) line.push_back(json_cell(item, key, source, file));
    }
  }
  return cells;
}

Cells from_csv(const ExperimentRows& rows, const std::filesystem::path& file) {
  const Table table = parse_csv(read_file(file), file.string());
  Cells cells;
  for (const auto& row : table.rows()) {
    auto& line = cells.emplace_back();
    for (const auto& [name, source] : rows.columns)
      line.push_back(is_text(source) ? source.substr(1) : row[table.column(source)]);
  }
  return cells;
}

using Curves = std::map<std::string, std::vector<ScalarPoint>>;

/// What another curve of the run has at the same step; empty where it has nothing there.
std::string value_at(const Curves& curves, const std::string& tag, std::int64_t step) {
  const auto curve = curves.find(tag);
  if (curve == curves.end()) return "";
  const auto point = std::ranges::lower_bound(curve->second, step, {}, &ScalarPoint::step);
  return point == curve->second.end() || point->step != step ? "" : show(point->value);
}

Cells from_events(const ExperimentRows& rows, const std::filesystem::path& folder) {
  Cells cells;
  const Curves curves = read_scalars(folder);
  for (const auto& [tag, points] : curves) {
    if (!tag.starts_with(rows.tags)) continue;
    for (const ScalarPoint& point : points) {
      auto& line = cells.emplace_back();
      for (const auto& [name, source] : rows.columns) {
        if (source == "tag")
          line.push_back(tag.substr(rows.tags.size()));
        else if (source == "step")
          line.push_back(std::to_string(point.step));
        else if (source == "value")
          line.push_back(show(point.value));
        else if (is_text(source))
          line.push_back(source.substr(1));
        else if (source.starts_with('@'))
          line.push_back(value_at(curves, source.substr(1), point.step));
        else
          missing("an event has step, tag, value, @TAG and =TEXT, no '" + source + "'", folder);
      }
    }
  }
  return cells;
}

bool is_json(const std::filesystem::path& file) {
  return !std::filesystem::is_directory(file) && file.extension() != ".csv";
}

}  // namespace

Cells extract_rows(const ExperimentRows& rows, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / rows.file;
  try {
    if (std::filesystem::is_directory(file)) return from_events(rows, file);
    return file.extension() == ".csv" ? from_csv(rows, file) : from_json(rows, file);
  } catch (const json::exception& error) {
    missing(error.what(), file);
  }
}

void require_wanted(const ExperimentRows& rows, const std::vector<std::filesystem::path>& folders) {
  std::set<std::pair<std::string, std::string>> seen;  // pointer and value
  std::filesystem::path file;
  for (const std::filesystem::path& folder : folders) {
    file = folder / rows.file;
    if (!is_json(file)) return;
    for (const json& item : json::parse(read_file(file)))
      if (agrees(item, rows, file))
        for (const auto& [pointer, values] : rows.where)
          seen.emplace(pointer, json_cell(item, "", pointer, file));
  }
  for (const auto& [pointer, values] : rows.where)
    for (const std::string& value : values)
      if (!seen.contains({pointer, value}))
        missing("table '" + rows.table + "' wants items with '" + pointer + "' = '" + value +
                    "', which no run of its steps has; the last one looked at is here",
                file);
}

}  // namespace regraft::launch
