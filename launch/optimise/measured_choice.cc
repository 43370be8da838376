#include "launch/optimise/measured_choice.h"

#include <algorithm>
#include <cstdio>

#include "core/base/file.h"
#include "core/env/rewrite_state.h"
#include "core/onnx/export.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kMostContenders = 24;
constexpr double kMostBytes = 2e9;          // of all models of one trial
constexpr double kNearlyWorth = 1.2;        // times as slow as it is, by the cost model
constexpr double kShareOfLeavingOut = 0.4;  // of the time
constexpr double kShareOfRound = 0.6;       // of what is left
constexpr double kLeastShare = 0.15;        // left, for another round
constexpr double kShareOfSingles = 0.6;     // of a round

double bytes_in(const std::filesystem::path& folder) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    bytes += static_cast<double>(entry.file_size());
  return bytes;
}

}  // namespace

std::string MeasuredGroup::names() const {
  std::string text;
  for (const auto& [rule, count] : rules)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + rule;
  return text;
}

std::string MeasuredGroup::text() const {
  char figures[80];
  std::snprintf(figures, sizeof figures, ": %.3fx as fast", gain.speedup);
  return names() + figures;
}

void MeasuredChanges::keep_taken_in(const std::map<std::string, int>& rewrites) {
  std::erase_if(taken_in, [&](const MeasuredGroup& group) {
    return std::ranges::any_of(group.rules, [&](const auto& rule) {
      const auto held = rewrites.find(rule.first);
      return held == rewrites.end() || held->second < rule.second;
    });
  });
}

void MeasuredChoice::write(const Paths& paths, const std::filesystem::path& file) const {
  onnx::export_model(found_.model, graphs_after(found_.start, found_.rules, paths), file);
}

Paths MeasuredChoice::changed(const Paths& paths, const Change& change) const {
  Paths result = paths_without(found_.start, found_.rules, paths, change.without);
  for (const auto& [at, rule] : change.moves) {
    env::RewriteState state(found_.start[at], found_.rules, found_.costs[at]);
    for (const rules::Match& match : result[at]) state.apply(match);
    search::take_move(state, rule);
    result[at].assign(state.path().begin(), state.path().end());
  }
  return result;
}

MeasuredChoice::Changes MeasuredChoice::leaving_out(const Paths& paths, std::span<const double> saved_us,
                                                    std::size_t most) const {
  Changes changes;
  for (const RewriteGroup& group : rewrite_groups(found_.start, found_.rules, paths, saved_us, most)) {
    const auto is_idle = [&](const auto& rewrite) { return found_.idle.contains(rewrite.first); };
    if (!std::ranges::all_of(group.rewrites, is_idle))
      changes.push_back({group.rewrites, {}, {group.rules, {}}});
  }
  return changes;
}

MeasuredChoice::Changes MeasuredChoice::taking_in(const Paths& paths, const std::set<Move>& tried) const {
  std::vector<std::pair<double, Change>> moves;  // by what the model is predicted to lose
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (found_.idle.contains(at)) continue;
    env::RewriteState state(found_.start[at], found_.rules, found_.costs[at]);
    for (const rules::Match& match : paths[at]) state.apply(match);
    const double present_us = state.cost_model().latency_us();
    for (const search::AllSitesMove& move : search::all_sites_moves(state, present_us * kNearlyWorth)) {
      if (tried.contains({at, move.rule})) continue;
      std::map<std::string, int> rules;
      for (const rules::Match& step : move.steps) ++rules[found_.rules.info(step.rule).name];
      moves.push_back({move.latency_us - present_us, {{}, {{at, move.rule}}, {std::move(rules), {}}}});
    }
  }
  std::ranges::stable_sort(moves, {}, &std::pair<double, Change>::first);
  Changes changes;
  for (auto& [lost_us, change] : moves) changes.push_back(std::move(change));
  return changes;
}

MeasuredChoice::Changes MeasuredChoice::trial(const Paths& paths, double seconds, const Make& make) {
  exec::TrialOptions options = options_;
  options.budget_s = seconds;
  const exec::Measurement least{0, {found_.run_ms}, 0, 0};
  const auto affordable = [&] {
    return std::min(kMostContenders, exec::affordable_contenders(probe_.value_or(least), options));
  };
  if (affordable() == 0) return {};
  Changes changes = make(affordable());
  if (changes.empty()) return {};
  const TempDir folder;
  const exec::TimedModel first(folder.path() / "first.onnx", found_.settings);
  write(paths, first.model);
  if (!probe_) probe_ = exec::probe(launcher_, first, options);
  const auto fit = static_cast<std::size_t>(kMostBytes / std::max(bytes_in(folder.path()), 1.0));
  const std::size_t most = std::min(fit, affordable());
  if (changes.size() > most) changes = make(most);
  std::vector<exec::TimedModel> files;
  for (const Change& change : changes) {
    files.emplace_back(folder.path() / (std::to_string(files.size()) + ".onnx"), found_.settings);
    write(changed(paths, change), files.back().model);
  }
  const auto gains = exec::run_trials(launcher_, first, *probe_, files, options);
  for (std::size_t i = 0; i < gains.size(); ++i) changes[i].measured.gain = gains[i];
  return changes;
}

MeasuredChoice::Change MeasuredChoice::together(std::span<const Change> changes) {
  Change sum;
  for (const Change& change : changes) {
    sum.without.insert(change.without.begin(), change.without.end());
    sum.moves.insert(sum.moves.end(), change.moves.begin(), change.moves.end());
  }
  return sum;
}

void MeasuredChoice::improve(Paths& paths, double seconds, Figure figure, const Make& make,
                             std::vector<MeasuredGroup>& noted, std::vector<MeasuredGroup>& others) {
  const auto speedup = [](const Change& change) { return change.measured.gain.speedup; };
  Changes gaining = trial(paths, seconds * kShareOfSingles, make);
  const auto keep_first = [&](std::ptrdiff_t count) {
    for (auto other = gaining.begin() + count; other != gaining.end(); ++other)
      others.push_back(other->measured);
    gaining.erase(gaining.begin() + count, gaining.end());
  };
  const auto rest = std::ranges::stable_partition(
      gaining, [&](const Change& change) { return change.measured.gain.*figure > 1; });
  keep_first(rest.begin() - gaining.begin());
  std::ranges::stable_sort(gaining, std::greater<>(), speedup);
  if (gaining.empty()) return;
  if (gaining.size() > 1) {
    std::vector<std::size_t> sizes;  // of the first of them: all, and fewer as far as there is time
    const Changes sums = trial(paths, seconds * (1 - kShareOfSingles), [&](std::size_t most) {
      const std::size_t all = gaining.size(), count = std::clamp<std::size_t>(most, 2, all);
      Changes some;
      sizes.clear();
      for (std::size_t k = 1; k <= count; ++k) {
        sizes.push_back((all * k + count - 1) / count);
        some.push_back(together(std::span(gaining).first(sizes.back())));
      }
      return some;
    });
    const auto best = std::ranges::max_element(sums, {}, speedup);
    const bool none = best != sums.end() && speedup(*best) <= 1;
    keep_first(none ? 0 : best == sums.end() ? 1 : static_cast<std::ptrdiff_t>(sizes[best - sums.begin()]));
    if (none) return;
  }
  paths = changed(paths, together(gaining));
  for (const Change& change : gaining) noted.push_back(change.measured);
}

Paths MeasuredChoice::choose(Paths paths, std::span<const double> saved_us, MeasuredChanges& changes) {
  const double all_s = options_.budget_s;
  end_ = Deadline(all_s, clock_);
  // What was found was thought to pay: it goes where it looks slower. What was not must be faster for sure.
  improve(
      paths, all_s * kShareOfLeavingOut, &exec::SpeedupEstimate::speedup,
      [&](std::size_t most) { return leaving_out(paths, saved_us, most); }, changes.left_out, changes.kept);
  std::set<Move> tried;
  for (bool some = true; some && end_.left_s() > all_s * kLeastShare;) {
    Changes moves;
    improve(
        paths, end_.left_s() * kShareOfRound, &exec::SpeedupEstimate::low,
        [&](std::size_t most) {
          if (moves.empty()) moves = taking_in(paths, tried);
          moves.resize(std::min(most, moves.size()));
          return moves;
        },
        changes.taken_in, changes.not_taken_in);
    for (const Change& change : moves) tried.insert(change.moves.front());
    some = !moves.empty();
  }
  return paths;
}

}
