#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "launch/optimise.h"
#include "launch/version.h"

namespace regraft::launch {
namespace {

std::string line(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string RefusedRule::text() const {
  return (left_out == "rule" ? "warning: searched without rule " : "warning: left out rewrites by rule ") +
         rule + ": " + reason;
}

std::string OptimiseReport::to_json() const {
  using nlohmann::json;
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(nullptr); };
  json object{{"accepted", accepted},
              {"reason", reason},
              {"verified", verified},
              {"max_relative_error", max_relative_error},
              {"speedup", number(speedup)},
              {"speedup_low", number(speedup_low)},
              {"speedup_high", number(speedup_high)},
              {"latency_before_ms", number(latency_before_ms)},
              {"latency_after_ms", number(latency_after_ms)},
              {"dense_share", number(dense_share)},
              {"dims", json::array()},
              {"sizes", json::array()},
              {"slower_at", slower_at},
              {"cost_before", cost_before},
              {"cost_after", cost_after},
              {"nodes_before", nodes_before},
              {"nodes_after", nodes_after},
              {"rules", rules},
              {"marks", marks},
              {"refused_rules", json::array()},
              {"candidates_costed", candidates_costed},
              {"seconds", json::object()},
              {"peak_rss_bytes", peak_rss_bytes},
              {"seed", seed},
              {"search", search},
              {"found_by", found_by},
              {"version", kVersion}};
  for (const RefusedRule& refused : refused_rules)
    object["refused_rules"].push_back(
        {{"rule", refused.rule}, {"reason", refused.reason}, {"left_out", refused.left_out}});
  for (const auto& [phase, value] : seconds) object["seconds"][phase] = value;
  for (const exec::TakenSize& one : dims)
    object["dims"].push_back({{"name", one.dim}, {"size", one.size}, {"why", one.why}});
  for (const PointReport& point : points)
    object["sizes"].push_back({{"dims", point.sizes},
                               {"cost_before", point.cost_before},
                               {"cost_after", point.cost_after},
                               {"speedup", number(point.speedup)},
                               {"speedup_low", number(point.speedup_low)},
                               {"speedup_high", number(point.speedup_high)},
                               {"latency_before_ms", number(point.latency_before_ms)},
                               {"latency_after_ms", number(point.latency_after_ms)}});
  return object.dump(2) + "\n";
}

std::string OptimiseReport::text() const {
  std::string text =
      line("nodes %zu -> %zu, predicted cost %.1f -> %.1f us (%.3fx), %llu candidates costed\n", nodes_before,
           nodes_after, cost_before, cost_after, cost_after > 0 ? cost_before / cost_after : 1.0,
           static_cast<unsigned long long>(candidates_costed));
  for (const exec::TakenSize& one : dims)
    text += line("  %s=%lld (%s)\n", one.dim.c_str(), static_cast<long long>(one.size), one.why.c_str());
  if (!found_by.empty() && !rules.empty()) text += "found by " + found_by + "\n";
  for (const auto& [rule, count] : rules) text += line("  %4d x %s\n", count, rule.c_str());
  for (const auto& [mark, marked] : marks)
    text += std::string("holds for ") + (mark == "finite" ? "finite activations" : "terms of bounded size") +
            " (rules " + join(std::vector<std::string>(marked.begin(), marked.end()), ", ") + ")\n";
  for (const RefusedRule& refused : refused_rules) text += refused.text() + "\n";
  if (verified) text += line("verified: largest relative error %.3g\n", max_relative_error);
  if (speedup)
    text += line("measured: %.3f -> %.3f ms, speedup %.3f, 95 %% interval [%.3f, %.3f]\n", *latency_before_ms,
                 *latency_after_ms, *speedup, *speedup_low, *speedup_high);
  text += line("%s: %s\n", accepted ? "accepted" : "input returned unchanged", reason.c_str());
  text += "seconds:";
  for (const auto& [phase, value] : seconds) text += line(" %s %.1f", phase.c_str(), value);
  return text + line("; peak memory %.0f MB\n", static_cast<double>(peak_rss_bytes) / 1e6);
}

}  // namespace regraft::launch
