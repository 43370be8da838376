#include "launch/experiment/gap.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

namespace regraft::launch {
namespace {

struct Found {
  double value = 0;
  std::string method;
};

/// What is known of one value of `by`.
struct Known {
  std::string key;
  std::optional<Found> best;
  std::map<std::string, double> by_method;  // of the gap's own table
};

Known& known_of(std::vector<Known>& all, const std::string& key) {
  const auto held = std::ranges::find(all, key, &Known::key);
  return held != all.end() ? *held : all.emplace_back(Known{key, {}, {}});
}

void take(const ExperimentGap& gap, const Table& table, bool own, std::vector<Known>& all) {
  const std::size_t by = table.column(gap.by), method = table.column(gap.method),
                    value = table.column(gap.value);
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    const std::optional<double> number = table.number(row, value);
    if (!number) continue;
    const std::vector<std::string>& cells = table.rows()[row];
    Known& known = known_of(all, cells[by]);
    if (!known.best || *number > known.best->value) known.best = Found{*number, cells[method]};
    if (!own) continue;
    double& held = known.by_method.try_emplace(cells[method], *number).first->second;
    held = std::max(held, *number);
  }
}

std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

Table gaps(const ExperimentGap& gap, const std::vector<std::pair<std::string, Table>>& tables) {
  std::vector<Known> all;
  for (const auto& [name, table] : tables) {
    const bool own = name == gap.table;
    if (own || std::ranges::find(gap.against, name) != gap.against.end()) take(gap, table, own, all);
  }
  std::vector<std::string> columns{gap.by, "best", "best_by"};
  for (const std::string& method : gap.of) columns.push_back("gap_" + method);
  Table result(std::move(columns));
  for (const Known& known : all) {
    std::vector<std::string> cells{known.key, show(known.best->value), known.best->method};
    for (const std::string& method : gap.of) {
      const auto held = known.by_method.find(method);
      const double best_cost = 1 - known.best->value;
      cells.push_back(held == known.by_method.end() || best_cost <= 0
                          ? ""
                          : percent(100 * (known.best->value - held->second) / best_cost));
    }
    result.add(std::move(cells));
  }
  return result;
}

}  // namespace regraft::launch
