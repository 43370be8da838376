#include "launch/experiment/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/process.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kBins = 40;

/// A string of gnuplot: in single quotes, between which it runs nothing (as it does what stands in backquotes
/// between double ones) and reads no markup.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'') safe += c;
    safe += c == '\n' ? ' ' : c;
  }
  return safe + "'";
}

std::string head(const ExperimentPlot& plot) {
  return "set terminal svg size 860,480 font 'sans,12' background rgb 'white' noenhanced\n"
         "set title " +
         quoted(plot.title) + "\nset xlabel " + quoted(plot.x_label.empty() ? plot.x : plot.x_label) +
         "\nset ylabel " + quoted(plot.y_label.empty() ? plot.y : plot.y_label) +
         "\nset grid ytics lc rgb '#dddddd'\nset key outside right top\nset datafile separator tab\n";
}

struct Point {
  double x = 0, y = 0;
};

using Series = std::vector<std::pair<std::string, std::vector<Point>>>;

/// The rows that have numbers in both columns, by series in order of their first rows.
Series series_of(const ExperimentPlot& plot, const Table& table) {
  const std::size_t x = table.column(plot.x), y = table.column(plot.y);
  Series all;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    const auto x_value = table.number(row, x), y_value = table.number(row, y);
    if (!x_value || !y_value) continue;
    const std::string name = plot.series.empty() ? plot.y : table.rows()[row][table.column(plot.series)];
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
    if (found == all.end()) found = all.insert(all.end(), {name, {}});
    found->second.push_back({*x_value, *y_value});
  }
  return all;
}

/// The points by x; by bins of equal width where there are more than kBins of them.
std::map<double, std::vector<double>> binned(const std::vector<Point>& points) {
  std::map<double, std::vector<double>> exact;
  for (const Point& point : points) exact[point.x].push_back(point.y);
  if (exact.size() <= kBins) return exact;
  const double low = exact.begin()->first;
  const double width = (exact.rbegin()->first - low) / static_cast<double>(kBins);
  std::map<double, std::vector<double>> bins;
  for (const auto& [x, values] : exact) {
    const double bin = std::min(std::floor((x - low) / width), static_cast<double>(kBins - 1));
    auto& all = bins[low + (bin + 0.5) * width];
    all.insert(all.end(), values.begin(), values.end());
  }
  return bins;
}

std::string data_block(std::size_t number, const std::string& lines) {
  return "$d" + std::to_string(number) + " << EOD\n" + lines + "EOD\n";
}

std::string lines_script(const ExperimentPlot& plot, const Table& table) {
  std::string blocks, drawn;
  std::size_t number = 0;
  for (const auto& [name, points] : series_of(plot, table)) {
    std::string data;
    for (const auto& [x, values] : binned(points))
      data += show(x) + "\t" + show(interquartile_mean(values)) + "\t" + show(quantile(values, 0.25)) + "\t" +
              show(quantile(values, 0.75)) + "\n";
    blocks += data_block(number, data);
    const std::string block = "$d" + std::to_string(number), color = std::to_string(number + 1);
    drawn += (drawn.empty() ? "plot " : ", ") + block +
             " using 1:3:4 with filledcurves fs transparent solid 0.2 lt " + color + " notitle, " + block +
             " using 1:2 with lines lw 2 lt " + color + " title " + quoted(name);
    ++number;
  }
  return head(plot) + blocks + drawn + "\n";
}

std::string scatter_script(const ExperimentPlot& plot, const Table& table) {
  std::string blocks, drawn;
  std::size_t number = 0;
  for (const auto& [name, points] : series_of(plot, table)) {
    std::string data;
    for (const Point& point : points) data += show(point.x) + "\t" + show(point.y) + "\n";
    blocks += data_block(number, data);
    drawn += (drawn.empty() ? "plot $d" : ", $d") + std::to_string(number) +
             " using 1:2 with points pt 7 ps 0.5 title " + quoted(name);
    ++number;
  }
  return head(plot) + blocks + drawn + "\n";
}

std::vector<std::string> distinct(const Table& table, const std::string& column) {
  const std::size_t at = table.column(column);
  std::vector<std::string> all;
  for (const auto& row : table.rows())
    if (std::find(all.begin(), all.end(), row[at]) == all.end()) all.push_back(row[at]);
  return all;
}

std::string tics(const std::string& axis, const std::vector<std::string>& names) {
  std::string text = "set " + axis + "tics (";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i > 0 ? ", " : "") + quoted(names[i]) + " " + std::to_string(i);
  return text + ")" + (axis == "x" ? " rotate by 30 right" : "") + "\n";
}

std::string bars_script(const ExperimentPlot& plot, const Table& table) {
  const std::vector<std::string> categories = distinct(table, plot.x);
  const std::vector<std::string> series =
      plot.series.empty() ? std::vector<std::string>{plot.y} : distinct(table, plot.series);
  std::vector<std::string> by{plot.x};
  if (!plot.series.empty()) by.push_back(plot.series);
  const Table summary = summarise(table, by, plot.y);
  const double width = 0.8 / static_cast<double>(series.size());
  std::string blocks, drawn;
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::string data;
    for (const auto& row : summary.rows()) {
      if (!plot.series.empty() && row[1] != series[i]) continue;
      const auto place = std::find(categories.begin(), categories.end(), row[0]) - categories.begin();
      const double x = static_cast<double>(place) + (static_cast<double>(i) + 0.5) * width - 0.4;
      const std::size_t iqm = by.size() + 1;
      data += show(x) + "\t" + row[iqm] + "\t" + row[iqm + 1] + "\t" + row[iqm + 2] + "\n";
    }
    blocks += data_block(i, data);
    const std::string block = "$d" + std::to_string(i), color = std::to_string(i + 1);
    drawn += (drawn.empty() ? "plot " : ", ") + block + " using 1:2:(" + show(width * 0.9) +
             ") with boxes fs solid 0.6 lt " + color + " title " + quoted(series[i]) + ", " + block +
             " using 1:2:3:4 with yerrorbars lc rgb 'black' pt 0 notitle";
  }
  return head(plot) + tics("x", categories) +
         "set xrange [-0.6:" + show(static_cast<double>(categories.size()) - 0.4) + "]\nset xzeroaxis\n" +
         blocks + drawn + "\n";
}

std::string heat_script(const ExperimentPlot& plot, const Table& table) {
  const Table sums = crossed(table, plot.y, plot.x, plot.value);
  const std::vector<std::string> columns(sums.columns().begin() + 1, sums.columns().end());
  std::vector<std::string> rows;
  std::string data;
  for (const auto& row : sums.rows()) {
    for (std::size_t x = 0; x < columns.size(); ++x)
      data += std::to_string(x) + "\t" + std::to_string(rows.size()) + "\t" +
              (row[x + 1].empty() ? "0" : row[x + 1]) + "\n";
    rows.push_back(row.front());
  }
  const std::size_t height = std::max<std::size_t>(480, 160 + 16 * rows.size());
  return head(plot) + "set terminal svg size 860," + std::to_string(height) +
         " font 'sans,11' background rgb 'white' noenhanced\n" + tics("x", columns) + tics("y", rows) +
         "set xrange [-0.5:" + show(static_cast<double>(columns.size()) - 0.5) +
         "]\nset yrange [-0.5:" + show(static_cast<double>(rows.size()) - 0.5) +
         "]\nset palette defined (0 '#deebf7', 1 '#0b5394')\nset logscale cb\nset cblabel " +
         quoted(plot.value) + "\n" + "unset grid\n" + data_block(0, data) +
         "plot $d0 using 1:2:($3 > 0 ? $3 : 1/0) with image pixels notitle, $d0 using 1:2:($3 > 0 ? "
         "sprintf('%g', $3) : '') "
         "with labels notitle\n";
}

}  // namespace

std::string plot_script(const ExperimentPlot& plot, const Table& table) {
  switch (plot.kind) {
    case ExperimentPlot::Kind::lines:
      return lines_script(plot, table);
    case ExperimentPlot::Kind::bars:
      return bars_script(plot, table);
    case ExperimentPlot::Kind::heat:
      return heat_script(plot, table);
    case ExperimentPlot::Kind::scatter:
      return scatter_script(plot, table);
  }
  return "";
}

void draw(const std::string& script, const std::filesystem::path& svg) {
  const TempDir folder("regraft-plot");
  const std::filesystem::path file = folder.path() / "plot.gp";
  write_file_atomic(file, script);
  const Captured drawn = capture_output({.argv = {"gnuplot", file.string()}});
  if (!drawn.status.ok())
    throw ExperimentError("gnuplot refused the plot: " + drawn.errors, svg.string(),
                          "correct [[plot]] of the experiment");
  write_file_atomic(svg, drawn.output);
}

}  // namespace regraft::launch
