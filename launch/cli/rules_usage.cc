#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/text.h"
#include "core/cost/analytic_cost.h"
#include "core/env/rewrite_state.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/task/load_rule_set.h"
#include "launch/call/call_files.h"
#include "launch/call/subprocess_checks.h"
#include "launch/cli/commands.h"
#include "launch/command/choices.h"
#include "launch/optimise/searches.h"

namespace regraft::launch {
namespace {

struct RulesUsageArguments {
  std::vector<std::filesystem::path> models;
  std::filesystem::path rules = "configs/rules", device = "configs/devices/cpu-1core.toml", out = "-";
  std::vector<std::string> searches{"greedy", "beam"};
  double search_s = 30;
  int walks = 4, steps = 100;
  std::uint64_t seed = 0;
};

/// (rule, model, way) -> how often.
using Usage = std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t>;

/// Rewrites a graph at random: first a rule of those that match, then one of its matches, each as likely as
/// any other.
void walk(env::RewriteState& state, int steps, Rng& rng, const std::function<void(std::uint32_t)>& fired) {
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> matching;
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
      if (!state.index().matches(rule).empty()) matching.push_back(rule);
    if (matching.empty()) return;
    const std::uint32_t rule = matching[rng.below(matching.size())];
    const auto matches = state.index().matches(rule);
    state.apply(rules::Match(matches[rng.below(matches.size())]));  // a copy: the index's own is gone then
    fired(rule);
  }
}

/// Each model once, by what the table calls it: its file without the extension, or its path as given where
/// another has that too.
std::vector<std::pair<std::filesystem::path, std::string>> named(
    const std::vector<std::filesystem::path>& paths) {
  std::set<std::filesystem::path> seen;
  std::map<std::string, std::size_t> stems;
  std::vector<std::pair<std::filesystem::path, std::string>> models;
  for (const std::filesystem::path& path : paths) {
    if (!seen.insert(std::filesystem::weakly_canonical(path)).second) continue;
    models.emplace_back(path, path.stem().string());
    ++stems[models.back().second];
  }
  for (auto& [path, name] : models)
    if (stems[name] > 1) name = path.string();
  return models;
}

void count(graph::Graph start, const std::string& name, const rules::RuleSet& rules,
           const cost::CostFactory& costs, const RulesUsageArguments& options, Usage& usage) {
  rules::clean_up(start, rules);
  start.commit();
  const rules::MatchIndex index(rules, start);
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
    if (const std::size_t n = index.matches(rule).size()) usage[{rule, name, "matches"}] += n;
  const SystemClock clock;
  for (const std::string& search : options.searches) {
    Rng rng(options.seed, "usage " + search);
    search::SearchLimits limits;
    limits.seconds = options.search_s;
    const auto found = make_search(search, nullptr, {})->run({start, rules, costs}, limits, rng, {clock});
    for (const rules::Match& match : found.path) ++usage[{match.rule, name, search}];
  }
  for (int i = 0; i < options.walks; ++i) {
    Rng rng(options.seed + static_cast<std::uint64_t>(i), "usage walk");
    env::RewriteState state(start, rules, costs);
    walk(state, options.steps, rng, [&](std::uint32_t rule) { ++usage[{rule, name, "walk"}]; });
  }
}

std::string csv_of(const Usage& usage, const rules::RuleSet& rules) {
  std::string text = "rule,family,model,way,count\n";
  for (const auto& [key, times] : usage) {
    const auto& [rule, model, way] = key;
    text += join(std::vector<std::string>{rules.info(rule).name, rules.info(rule).family, model, way,
                                          std::to_string(times)},
                 ",") +
            "\n";
  }
  return text;
}

int run(RulesUsageArguments& options) {
  CallFiles files;
  files.writes("--out", options.out);
  for (const std::filesystem::path& model : options.models) files.reads("MODEL", model);
  files.reads_rules("--rules", options.rules);
  const rules::RuleSet rules = task::load_rule_set(options.rules);
  const cost::DeviceProfile device = cost::load_device(find_config(options.device));
  Usage usage;
  for (const auto& [model, name] : named(options.models)) {
    const onnx::ImportedModel imported = onnx::import_model(model, {.inlined_calls = SIZE_MAX});
    graph::Bindings bindings;
    const exec::Feed feed = feed_in_child(model, {}, options.seed);
    if (feed.runs())
      for (const auto& [dim, size] : feed.points.front().all())
        bindings.bind(imported.tables().symbol(dim), size);
    const cost::AnalyticFactory costs(device, bindings);
    for (std::size_t at = 0; at < imported.graph_count(); ++at)
      count(imported.graph(at), name, rules, costs, options, usage);
    const std::string sizes = feed.runs() ? describe_sizes(feed) : feed.problem;
    std::fprintf(stderr, "regraft: %s: done%s%s\n", model.c_str(), sizes.empty() ? "" : "; ", sizes.c_str());
  }
  write_file_atomic(options.out, csv_of(usage, rules));
  std::map<std::string, std::set<std::uint32_t>> fired;  // by way
  for (const auto& [key, times] : usage) fired[std::get<2>(key)].insert(std::get<0>(key));
  for (const auto& [way, numbers] : fired)
    std::printf("%-17s %4zu of %zu rules\n", way.c_str(), numbers.size(), rules.size());
  return kDone;
}

}  // namespace

void add_rules_usage(Command& rules, Action& action) {
  auto options = std::make_shared<RulesUsageArguments>();
  std::vector<std::string> searches = search_names();
  std::erase_if(searches, [](const std::string& name) { return wants_policy(name, false); });
  Command* command = rules.add_subcommand(
      "usage", "count where rules match in models, and how often searches and random walks use them, as CSV");
  command->add_option("MODEL", options->models, "ONNX models")->required();
  command->add_option("-o,--out", options->out, "where the CSV goes; - for standard output")
      ->capture_default_str();
  command->add_option("--searches", options->searches, "searches whose rewrites are counted")
      ->delimiter(',')
      ->check(one_of(searches, former_search_names()))
      ->capture_default_str();
  command->add_option("--search-seconds", options->search_s, "seconds for one search on one model")
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--walks", options->walks, "random walks on each model")
      ->check(in_range(0, 10000))
      ->capture_default_str();
  command->add_option("--steps", options->steps, "rewrites of a walk")
      ->check(in_range(1, 100000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of all random choices")->capture_default_str();
  command
      ->add_option("--rules", options->rules,
                   "a .rules file or a folder of them; 'tested' or 'tested:FILE' also takes rules that are "
                   "neither proved nor bounded_checked")
      ->capture_default_str();
  command->add_option("--device", options->device, "device profile of the cost model")->capture_default_str();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}
