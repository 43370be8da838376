#include "launch/optimise/optimise_report.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/version.h"

namespace regraft::launch {
namespace {

using nlohmann::json;

std::string line(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

constexpr std::size_t kMostRules = 8;  // that the text names

std::string text_of(const std::vector<exec::TakenSize>& dims, const std::vector<PointReport>& points) {
  std::string text;
  for (const exec::TakenSize& one : dims)
    text += (text.empty() ? "" : ", ") + one.dim + "=" + std::to_string(one.size) + " (" + one.why + ")";
  for (std::size_t i = 1; i < points.size(); ++i)
    text += (i == 1 ? "; too: " : "; ") + exec::FeedPoint{points[i].sizes, {}}.describe();
  return text;
}

json json_of(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json json_of(const RefusedRule& refused) {
  return {{"rule", refused.rule}, {"reason", refused.reason}, {"left_out", refused.left_out}};
}

json json_of(const MeasuredGroup& group) {
  return {{"rules", group.rules},
          {"speedup", group.gain.speedup},
          {"speedup_low", group.gain.low},
          {"speedup_high", group.gain.high}};
}

json json_of(const RuntimeTimes& one) {
  return {{"name", one.name},
          {"version", one.version},
          {"latency_before_ms", json_of(one.before_ms)},
          {"latency_after_ms", json_of(one.after_ms)},
          {"problem", one.problem}};
}

json json_of(const exec::TakenSize& one) {
  return {{"name", one.dim}, {"size", one.size}, {"why", one.why}};
}

json json_of(const PointReport& point) {
  return {{"dims", point.sizes},
          {"cost_before", point.cost_before},
          {"cost_after", point.cost_after},
          {"speedup", json_of(point.speedup)},
          {"speedup_low", json_of(point.speedup_low)},
          {"speedup_high", json_of(point.speedup_high)},
          {"latency_before_ms", json_of(point.latency_before_ms)},
          {"latency_after_ms", json_of(point.latency_after_ms)}};
}

template <typename T>
json list_of(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

void PointReport::note(const exec::LatencyReport& measured) {
  speedup = measured.estimate.speedup;
  speedup_low = measured.estimate.low;
  speedup_high = measured.estimate.high;
  latency_before_ms = measured.before.latency_ms;
  latency_after_ms = measured.after.latency_ms;
}

std::string PointReport::text() const {
  const std::string at = sizes.empty() ? "" : exec::FeedPoint{sizes, {}}.describe() + ": ";
  if (speedup)
    return at + line("%.3f -> %.3f ms, %.3fx as fast, 95 %% interval [%.3f, %.3f]", *latency_before_ms,
                     *latency_after_ms, *speedup, *speedup_low, *speedup_high);
  if (cost_before <= 0 || cost_after == cost_before) return "";
  if (cost_after <= 0) return at + line("%.1f us -> nothing is left to run", cost_before);
  return at + line("%.1f -> %.1f us, %.3fx as fast", cost_before, cost_after, cost_before / cost_after);
}

std::string RefusedRule::text() const {
  return (left_out == "rule"      ? "searched without rule "
          : left_out == "rewrite" ? "left out rewrites by rule "
                                  : "left out, with all rewrites behind it, one by rule ") +
         rule + ": " + reason;
}

void OptimiseReport::note(const ProfileSummary& profile) {
  kernels = {profile.predicted_us, profile.measured_us, profile.agreed_share, profile.other_load};
  dense_share = profile.dense_share;
  time_holders = profile.text;
}

double OptimiseReport::spent_s() const {
  std::set<std::string_view> apart{"runtimes"};
  if (std::ranges::any_of(seconds, [](const auto& each) { return each.first == "settings"; }))
    apart.insert({"settings", "trials"});  // trials are made in several settings
  double sum = 0;
  for (const auto& [step, value] : seconds) sum += apart.contains(step) ? 0 : value;
  return sum;
}

void OptimiseReport::spend(const std::string& step, double more) {
  const auto held = std::ranges::find(seconds, step, &std::pair<std::string, double>::first);
  if (held == seconds.end())
    seconds.emplace_back(step, more);
  else
    held->second += more;  // made again
}

void OptimiseReport::keep_input(const std::string& why) {
  accepted = false;
  reason = why;
  settings.output = settings.input;
  rules.clear();
  marks.clear();
  nodes_after = nodes_before;
  cost_after = cost_before;
  for (PointReport& point : points) point.cost_after = point.cost_before;
  slower_at.clear();
  verified = true;  // the same bytes
  max_relative_error = 0;
  check_notes.clear();
}

std::string OptimiseReport::why_nothing() const {
  if (!changes.left_out.empty()) return "no rewrite that was found makes it faster, as measured";
  return refused_rules.empty() ? "no rewrite was found that the cost model calls cheaper"
                               : "no rewrite is left that keeps what the model computes and that the cost "
                                 "model calls cheaper";
}

std::string OptimiseReport::to_json() const {
  const FoundReport shown = found_or_emitted();
  const json object{
      {"accepted", accepted},
      {"reason", reason},
      {"verified", verified},
      {"max_relative_error", max_relative_error},
      {"check_notes", check_notes},
      {"speedup", json_of(first().speedup)},
      {"speedup_low", json_of(first().speedup_low)},
      {"speedup_high", json_of(first().speedup_high)},
      {"latency_before_ms", json_of(first().latency_before_ms)},
      {"latency_after_ms", json_of(first().latency_after_ms)},
      {"dense_share", json_of(dense_share)},
      {"kernels",
       {{"predicted_us", kernels.predicted_us},
        {"measured_us", kernels.measured_us},
        {"agreed_share", kernels.agreed_share},
        {"other_load", kernels.other_load}}},
      {"dims", list_of(dims)},
      {"sizes", list_of(points)},
      {"slower_at", slower_at},
      {"cost_before", cost_before},
      {"cost_after", cost_after},
      {"nodes_before", nodes_before},
      {"nodes_after", nodes_after},
      {"rules", rules},
      {"marks", marks},
      {"found", {{"nodes", shown.nodes}, {"cost", shown.cost_us}, {"rules", shown.rules}}},
      {"refused_rules", list_of(refused_rules)},
      {"left_out", list_of(changes.left_out)},
      {"taken_in", list_of(changes.taken_in)},
      {"kept", list_of(changes.kept)},
      {"not_taken_in", list_of(changes.not_taken_in)},
      {"candidates_costed", candidates_costed},
      {"seconds", std::map(seconds.begin(), seconds.end())},
      {"peak_rss_bytes", peak_rss_bytes},
      {"seed", seed},
      {"search", search},
      {"runtime", runtime},
      {"threads", threads},
      {"settings", settings.to_json()},
      {"runtimes", list_of(runtimes)},
      {"fastest", describe_fastest(runtimes)},
      {"found_by", found_by},
      {"version", kVersion},
  };
  return json_text(object, 2) + "\n";
}

std::string OptimiseReport::text() const {
  std::string text = (accepted ? "accepted: " : "input returned unchanged: ") + reason + "\n";
  const auto say = [&](const char* label, const std::string& what) {
    if (!what.empty()) text += line("%-10s", label) + what + "\n";
  };
  say("sizes", text_of(dims, points));
  say("time", time_holders);
  const bool of_processor = threads == 1 && !on_gpu(runtime);
  say("threads",
      std::to_string(threads) + ": times are " + (of_processor ? "of the processor" : "by the clock"));
  say("found", found_text());
  for (const MeasuredGroup& group : changes.left_out) say("left out", group.text() + " without");
  for (const MeasuredGroup& group : changes.taken_in) say("taken in", group.text() + " with");
  for (const PointReport& point : points) say(point.speedup ? "measured" : "predicted", point.text());
  for (const std::string& one : settings.lines(output, accepted ? first().speedup : std::nullopt))
    say("settings", one);
  if (runtimes.size() > 1 || runtime != Runtime::kDefault)
    for (const RuntimeTimes& one : runtimes) say("runtime", one.text());
  say("fastest", describe_fastest(runtimes));
  if (!slower_at.empty())
    say("slower", "than the input from about " + exec::FeedPoint{slower_at, {}}.describe() +
                      " on, as far as costs predict");
  for (const auto& [mark, marked] : marks)
    say("holds for", std::string(mark == "finite" ? "finite activations" : "terms of bounded size") +
                         " (rules " + join(std::vector<std::string>(marked.begin(), marked.end()), ", ") +
                         ")");
  for (const RefusedRule& refused : refused_rules) text += "warning: " + refused.text() + "\n";
  if (verified && accepted) say("verified", line("largest relative error %.3g", max_relative_error));
  constexpr std::size_t kNoteWidth = 160;  // what a runtime said may be long; --json has all of it
  for (const std::string& note : check_notes)
    say("check", note.size() > kNoteWidth ? note.substr(0, kNoteWidth) + " ..." : note);
  say("next", next_step());
  std::string spent;
  for (const auto& [step, value] : seconds)
    spent += line("%s%s %.1f", spent.empty() ? "" : ", ", step.c_str(), value);
  say("seconds", spent + line("; peak memory %.0f MB", static_cast<double>(peak_rss_bytes) / 1e6));
  return text;
}

const PointReport& OptimiseReport::first() const {
  static const PointReport kNone{};
  return points.empty() ? kNone : points.front();
}

FoundReport OptimiseReport::found_or_emitted() const {
  return found.value_or(FoundReport{nodes_after, cost_after, rules});
}

std::string OptimiseReport::found_text() const {
  if (cost_before <= 0) return "";
  const FoundReport shown = found_or_emitted();
  std::string text =
      line("%zu -> %zu nodes%s%s, %llu candidates costed", nodes_before, shown.nodes,
           found_by.empty() || shown.rules.empty() ? "" : " by ", shown.rules.empty() ? "" : found_by.c_str(),
           static_cast<unsigned long long>(candidates_costed));
  std::vector<std::pair<std::string, int>> most(shown.rules.begin(), shown.rules.end());
  std::ranges::stable_sort(most, std::greater<>(), &std::pair<std::string, int>::second);
  std::size_t listed = 0;
  for (; listed < std::min(kMostRules, most.size()); ++listed)
    text += line("\n%-10s%4d x %s", "", most[listed].second, most[listed].first.c_str());
  if (listed < most.size()) text += line("\n%-10sand %zu more rules (--json)", "", most.size() - listed);
  return text;
}

std::string OptimiseReport::next_step() const {
  if (points.empty()) return "";  // the reason says what to give
  const auto slower = [](const PointReport& point) { return point.speedup_high && *point.speedup_high < 1; };
  if (!accepted && (!first().speedup || slower(first())))
    return std::string("--allow-domain com.microsoft lets rules make the runtime's own ops") +
           (out_of_time ? ", --seconds 600 looks longer" : "");
  if (!accepted && std::ranges::any_of(points, slower)) return "name the sizes that you use with --bind";
  if (!accepted) return "--seconds 600 tells smaller gains from noise";
  if (!slower_at.empty())
    return "weigh your own sizes: --bind " + slower_at.begin()->first + "=" +
           std::to_string(points.front().sizes.at(slower_at.begin()->first)) + "," +
           std::to_string(slower_at.begin()->second);
  const bool taken = std::ranges::any_of(dims, [](const auto& one) {
    return one.why != "bound" && one.why != "fixed" && one.why != "as in --inputs";
  });
  return taken ? "name the sizes that you use with --bind, or give inputs with --inputs"
               : "compare on your own inputs: regraft verify IN OUT --inputs FILE.npz";
}

}
