#include "core/search/policy_guided.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/env/observation_writer.h"
#include "core/graph/order.h"
#include "core/search/search_run.h"
#include "core/search/search_tree.h"
#include "core/search/take_action.h"

namespace regraft::search {
namespace {

/// A candidate that was not applied yet.
struct Open {
  double score;
  std::uint32_t depth;  // actions on the way to its parent
  std::uint64_t order;  // in which they were opened
  SearchTree::Id id;    // its own; of all sites of a rule, which has none before it is taken, its parent's
  double discrepancy;   // of its whole path
  History history;
  bool all_sites;
};

/// Whether b is to be tried before a.
struct Later {
  bool operator()(const Open& a, const Open& b) const {
    if (a.score != b.score) return a.score > b.score;
    if (a.depth != b.depth) return a.depth < b.depth;
    return a.order > b.order;
  }
};

PolicyGuidedOptions checked(PolicyGuidedOptions options) {
  if (options.breadth < 1) throw SearchError("the breadth is 0", "breadth", "use at least 1");
  if (!(options.exploration >= 0 && options.exploration <= 1)) {
    throw SearchError("the share of exploration is out of range", "exploration", "use 0 to 1");
  }
  return options;
}

/// One run: what policy-guided search holds while it goes.
class GuidedRun {
 public:
  GuidedRun(const std::string& name, const SearchProblem& problem, const SearchLimits& limits,
            const SearchContext& context, Prior& prior, const PolicyGuidedOptions& options)
      : prior_(prior),
        options_(options),
        state_(problem.start, problem.rules, problem.costs),
        writer_(problem.start.tables(), options.observation.bindings),
        run_(name, limits, context, state_),
        tree_(state_) {}

  SearchResult go() {
    bool goes_on = run_.begin_expansion();
    std::optional<Open> next;
    if (goes_on) next = open_candidates(0, 0, 0, {});
    while (goes_on && (next || !queue_.empty())) {
      if (!next) {
        if (tree_.is_full() || queue_.size() >= SearchTree::kMostNodes) forget_last();
        std::pop_heap(queue_.begin(), queue_.end(), Later());
        next = std::move(queue_.back());
        queue_.pop_back();
      }
      Open now = *std::exchange(next, std::nullopt);
      goes_on = run_.goes_on();
      if (!goes_on || !enter(now)) continue;
      goes_on = run_.begin_expansion();
      if (goes_on)
        next = open_candidates(tree_.follow(), now.depth + 1, now.discrepancy, std::move(now.history));
    }
    return run_.finish();
  }

 private:
  /// Goes to a new graph and costs it; false where it is refused or known.
  bool enter(const Open& open) {
    bool moved = false;
    if (open.all_sites) {
      tree_.go_to(open.id);
      moved = take_all_sites(run_, state_, open.history.action->rule);
      tree_.follow();
    } else {
      moved = run_.try_move([&] {
        tree_.go_to(open.id);
        state_.cost_model();
      });
    }
    if (!moved || !run_.visit(graph::structural_hash(state_.graph()))) return false;
    run_.offer(state_.cost_model(), state_.path());
    return true;
  }

  /// Opens the candidates of the graph that the state stands at; the policy's own choice, if it goes on, is
  /// returned instead.
  std::optional<Open> open_candidates(SearchTree::Id parent, std::uint32_t depth, double path_discrepancy,
                                      History history) {
    const ObservationOptions& seen = options_.observation;
    const std::uint32_t step = std::min(depth, seen.horizon - 1);  // the last that a policy saw in training
    writer_.write(state_, {run_.initial(), step, seen.horizon, seen.location_limit, seen.action_mode},
                  observation_);
    const std::vector<double> log_probabilities = explored(ask(prior_, observation_, history));
    const double most = *std::max_element(log_probabilities.begin(), log_probabilities.end());
    const double cost_term = options_.cost_weight * log_cost_ratio();
    std::optional<Open> choice;
    double rank = 0;
    for (const std::size_t row : most_probable(log_probabilities)) {
      const double path = path_discrepancy + most - log_probabilities[row] + options_.rank_weight * rank;
      const env::Action action{observation_.candidate_rules[row], observation_.candidate_locations[row]};
      const bool all_sites = observation_.stands_for_all(action.rule, action.location);
      const SearchTree::Id id = all_sites ? parent : tree_.add(parent, match_of(action));
      const Open open{path + cost_term, depth, opened_++, id, path, {action, history.memory}, all_sites};
      if (rank++ == 0 && log_probabilities[row] == most) {
        choice = open;
      } else {
        queue_.push_back(open);
        std::push_heap(queue_.begin(), queue_.end(), Later());
      }
    }
    return choice;
  }

  void forget_last() {
    std::sort(queue_.begin(), queue_.end(), [](const Open& a, const Open& b) { return Later()(b, a); });
    queue_.resize((queue_.size() + 1) / 2);  // which is a heap, too
    std::vector<SearchTree::Id> ids;
    for (const Open& open : queue_) ids.push_back(open.id);
    ids = tree_.keep(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) queue_[i].id = ids[i];
  }

  const rules::Match& match_of(env::Action action) {
    return state_.index().matches(action.rule)[observation_.site(action.rule, action.location)];
  }

  double log_cost_ratio() {
    const double initial_us = run_.initial().latency_us, now_us = state_.cost().latency_us;
    return initial_us > 0 && now_us > 0 ? std::log(now_us / initial_us) : 0.0;
  }

  std::vector<double> explored(const std::vector<float>& log_probabilities) const {
    const double floor = options_.exploration / static_cast<double>(log_probabilities.size());
    std::vector<double> mixed(log_probabilities.size());
    std::transform(log_probabilities.begin(), log_probabilities.end(), mixed.begin(), [&](float value) {
      return std::log((1 - options_.exploration) * std::exp(static_cast<double>(value)) + floor);
    });
    return mixed;
  }

  /// Rows of the `breadth` most probable candidates but NO-OP, best first; the earlier of equals first.
  std::vector<std::size_t> most_probable(const std::vector<double>& log_probabilities) const {
    std::vector<std::size_t> rows(log_probabilities.size() - 1);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const std::size_t kept = std::min<std::size_t>(rows.size(), options_.breadth);
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                      [&](std::size_t a, std::size_t b) {
                        if (log_probabilities[a] != log_probabilities[b])
                          return log_probabilities[a] > log_probabilities[b];
                        return a < b;
                      });
    rows.resize(kept);
    return rows;
  }

  Prior& prior_;
  const PolicyGuidedOptions& options_;
  env::RewriteState state_;
  env::ObservationWriter writer_;
  SearchRun run_;
  SearchTree tree_;
  std::vector<Open> queue_;  // a heap by Later
  std::uint64_t opened_ = 0;
  env::Observation observation_;
};

class PolicyGuided : public Search {
 public:
  PolicyGuided(Prior& prior, PolicyGuidedOptions options)
      : prior_(prior), options_(checked(std::move(options))) {}
  std::string name() const override { return "guided:" + prior_.name(); }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    return GuidedRun(name(), problem, limits, context, prior_, options_).go();
  }

 private:
  Prior& prior_;
  PolicyGuidedOptions options_;
};

}  // namespace

std::unique_ptr<Search> make_policy_guided(Prior& prior, PolicyGuidedOptions options) {
  return std::make_unique<PolicyGuided>(prior, std::move(options));
}

}
