#include "launch/optimise/report_page.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>

#include "core/base/version.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kMostPictures = 40;
constexpr std::size_t kMostBoxes = 400;                               // of a picture
constexpr int kWidth = 158, kHeight = 36, kGap = 10, kLayerGap = 26;  // of boxes, in pixels

constexpr char kStyle[] =
    "body{font:14px sans-serif;margin:2em auto;max-width:75em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .8em;border-bottom:1px solid #ddd;"
    "text-align:right;vertical-align:top}td:first-child,th:first-child{text-align:left}"
    "td.wide{text-align:left;font-family:monospace;font-size:12px;max-width:45em}"
    "pre{background:#f6f6f6;padding:1em;overflow-x:auto}svg{display:block}"
    ".pair{display:flex;gap:3em;align-items:flex-start;flex-wrap:wrap}.pair>div{overflow-x:auto;max-width:"
    "100%}";

std::string printed(const char* format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string heading(const std::string& text) {
  return "<h2>" + escaped(text) + "</h2>\n";
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table><tr>";
  for (const std::string& cell : head) out += "<th>" + escaped(cell) + "</th>";
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += (cell.size() > 40 ? "<td class=wide>" : "<td>") + escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string interval(double value, double low, double high) {
  return printed("%.3f [%.3f, %.3f]", value, low, high);
}

std::string sizes_table(const OptimiseReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const PointReport& point : report.points) {
    const std::string at = point.sizes.empty() ? "fixed" : exec::FeedPoint{point.sizes, {}}.describe();
    std::vector<std::string> row{at, printed("%.1f", point.cost_before), printed("%.1f", point.cost_after)};
    if (point.speedup)
      row.insert(row.end(),
                 {printed("%.3f", *point.latency_before_ms), printed("%.3f", *point.latency_after_ms),
                  interval(*point.speedup, *point.speedup_low, *point.speedup_high)});
    else
      row.insert(row.end(), {"", "", "not measured"});
    rows.push_back(std::move(row));
  }
  return heading("Latency") + table({"sizes", "predicted before, us", "after, us", "measured before, ms",
                                     "after, ms", "times as fast [95 %]"},
                                    rows);
}

std::string trials_table(const MeasuredChanges& changes) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* verdict, const std::vector<MeasuredGroup>& groups) {
    for (const MeasuredGroup& group : groups)
      rows.push_back({group.names(), verdict, interval(group.gain.speedup, group.gain.low, group.gain.high)});
  };
  add("left out: faster without", changes.left_out);
  add("taken in: faster with", changes.taken_in);
  add("kept: not faster without", changes.kept);
  add("not taken in: not faster with", changes.not_taken_in);
  if (rows.empty()) return "";
  return heading("Trials: what pays, as measured") +
         table({"rewrites", "verdict", "times as fast for it [95 %]"}, rows);
}

/// Boxes in layers, each below all that it reads; what is only read stands right above its first reader.
std::string picture(const std::vector<ChangedPart::Box>& boxes, const char* colour) {
  if (boxes.empty()) return "<p>nothing</p>";
  if (boxes.size() > kMostBoxes) return printed("<p>%zu boxes, too many to draw</p>", boxes.size());
  std::vector<int> layer(boxes.size(), 0), column(boxes.size(), 0);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (const std::size_t input : boxes[i].inputs) layer[i] = std::max(layer[i], layer[input] + 1);
  std::vector<int> above(boxes.size(), std::numeric_limits<int>::max());  // the first reader
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (const std::size_t input : boxes[i].inputs) above[input] = std::min(above[input], layer[i] - 1);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].stays) layer[i] = above[i];
  std::map<int, int> used;
  for (std::size_t i = 0; i < boxes.size(); ++i) column[i] = used[layer[i]]++;
  int columns = 0;
  for (const auto& [at, count] : used) columns = std::max(columns, count);
  const auto x = [&](std::size_t i) { return column[i] * (kWidth + kGap) + kGap; };
  const auto y = [&](std::size_t i) { return layer[i] * (kHeight + kLayerGap) + kGap; };
  std::string lines, shapes;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const ChangedPart::Box& box = boxes[i];
    for (const std::size_t input : box.inputs)
      lines += printed("<line x1='%d' y1='%d' x2='%d' y2='%d' stroke='#888'/>", x(input) + kWidth / 2,
                       y(input) + kHeight, x(i) + kWidth / 2, y(i));
    shapes += printed("<rect x='%d' y='%d' width='%d' height='%d' rx='5' fill='%s' stroke='#999'/>", x(i),
                      y(i), kWidth, kHeight, box.stays ? "#f2f2f2" : colour);
    const auto write = [&](int down, int size, const std::string& text) {
      shapes += printed("<text x='%d' y='%d' font-size='%d' text-anchor='middle'>", x(i) + kWidth / 2,
                        y(i) + down, size) +
                escaped(text) + "</text>";
    };
    write(15, 12, box.text);
    write(29, 10, box.type);
  }
  const int width = columns * (kWidth + kGap) + kGap,
            height = (used.rbegin()->first + 1) * (kHeight + kLayerGap) + kGap;
  return printed("<svg width='%d' height='%d' viewBox='0 0 %d %d'>", width, height, width, height) + lines +
         shapes + "</svg>";
}

}  // namespace

void ReportPage::note_changes(const ModelGraphs& before, const ModelGraphs& after,
                              const rules::RewriteLog& log, const rules::RuleSet& rules) {
  graphs_.clear();
  rules_.clear();
  for (std::size_t at = 0; at < before.size(); ++at)
    if (auto parts = changed_parts(before[at], after[at]); !parts.empty())
      graphs_.emplace_back(before.path(at), std::move(parts));
  for (const rules::LogEntry& entry : log.entries) {
    Rule& rule = rules_[entry.name];
    if (const auto number = rules.find(entry.name)) rule.text = rules.info(*number).text;
    ++rule.count;
    rule.saved_us += entry.cost_before_us - entry.cost_after_us;
  }
}

void ReportPage::note_kernels(const std::vector<cost::KernelSample>& samples, bool after) {
  for (const cost::KernelSample& sample : samples) {
    auto& [first, second] = kernels_[sample.features.kernel_kind()];
    Kernels& kernels = after ? second : first;
    ++kernels.count;
    kernels.measured_us += sample.measured_us;
  }
}

std::string ReportPage::rules_table() const {
  if (rules_.empty()) return "";
  std::vector<std::pair<std::string, Rule>> order(rules_.begin(), rules_.end());
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) { return one.second.saved_us; });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, rule] : order)
    rows.push_back({name, std::to_string(rule.count), printed("%.2f", rule.saved_us), rule.text});
  return heading("Rewrites that were found") +
         table({"rule", "times", "predicted to save, us", "what it says"}, rows);
}

std::string ReportPage::kernels_table() const {
  if (kernels_.empty()) return "";
  std::vector<std::pair<std::string, std::pair<Kernels, Kernels>>> order(kernels_.begin(), kernels_.end());
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) {
    return std::max(one.second.first.measured_us, one.second.second.measured_us);
  });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [kind, sides] : order) {
    const auto& [before, after] = sides;
    rows.push_back({kind, std::to_string(before.count), printed("%.1f", before.measured_us),
                    std::to_string(after.count), printed("%.1f", after.measured_us)});
  }
  return heading("Kernels that the runtime launched, by kind") +
         table({"kernel", "before", "us", "after", "us"}, rows);
}

std::string ReportPage::pictures() const {
  std::string out;
  std::size_t drawn = 0, all = 0;
  for (const auto& [path, parts] : graphs_) {
    all += parts.size();
    for (const ChangedPart& part : parts) {
      if (drawn == kMostPictures) continue;
      ++drawn;
      out += "<h3>" + (path.empty() ? "" : escaped(path) + ", ") + printed("%zu x</h3>\n", part.count) +
             "<div class=pair><div>before" + picture(part.before, "#fbdcd6") + "</div><div>after" +
             picture(part.after, "#d5efdb") + "</div></div>\n";
    }
  }
  if (drawn < all) out += printed("<p>and %zu more</p>\n", all - drawn);
  return out.empty() ? "" : heading("Where the graph changed (grey: read, as before)") + out;
}

std::string ReportPage::html(const std::string& model, const OptimiseReport& report) const {
  return "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>" + escaped(model) + "</title><style>" +
         kStyle + "</style>\n<h1>" + escaped(model) + "</h1>\n<pre>" + escaped(report.text()) + "</pre>\n" +
         sizes_table(report) + rules_table() + trials_table(report.changes) + kernels_table() + pictures() +
         "<p>regraft " + std::string(kVersion) + "</p></html>\n";
}

}
