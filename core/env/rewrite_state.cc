#include "core/env/rewrite_state.h"

#include <algorithm>
#include <utility>

namespace regraft::env {
namespace {

std::unique_ptr<graph::Graph> copy_of(const graph::Graph& start) {
  auto copy = std::make_unique<graph::Graph>(start);
  copy->commit();
  return copy;
}

/// Calls update(ids) with those of `stale`, ascending, once each; leaves it empty, with its memory.
template <typename Update>
void take_unique(std::vector<graph::NodeId>& stale, Update&& update) {
  if (stale.empty()) return;
  std::sort(stale.begin(), stale.end());
  stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
  update(std::span<const graph::NodeId>(stale));
  stale.clear();
}

/// From here on it is worth the rebuilding of all that remembers names by id.
constexpr std::size_t kManyNames = std::size_t{1} << 14;

/// How many names of the most frequent kind are behind `first`.
std::size_t named_since(const graph::TablesBound& first, const graph::TablesBound& now) {
  const auto since = [](std::size_t before, std::size_t after) { return after - std::min(before, after); };
  return std::max({since(first.types, now.types), since(first.attrs, now.attrs),
                   since(first.signatures, now.signatures), since(first.symbols, now.symbols),
                   since(first.weights, now.weights)});
}

}  // namespace

RewriteState::RewriteState(const graph::Graph& start, const rules::RuleSet& rules,
                           const cost::CostFactory& costs)
    : RewriteState(copy_of(start), rules, costs) {}

RewriteState::RewriteState(std::unique_ptr<graph::Graph> graph, const rules::RuleSet& rules,
                           const cost::CostFactory& costs)
    : graph_(std::move(graph)),
      rules_(&rules),
      costs_(&costs),
      cost_(costs.make(*graph_)),
      index_(rules, *graph_),
      rewriter_(*graph_, rules),
      first_(graph_->tables().bound()),
      forget_at_(kManyNames) {}

void RewriteState::touch_since(graph::Graph::Mark mark) {
  graph_->touched_since(mark, touched_);
  cost_stale_.insert(cost_stale_.end(), touched_.begin(), touched_.end());
  index_stale_.insert(index_stale_.end(), touched_.begin(), touched_.end());
}

cost::CostModel& RewriteState::cost_model() {
  take_unique(cost_stale_, [&](std::span<const graph::NodeId> nodes) { cost_->update(nodes); });
  return *cost_;
}

const rules::MatchIndex& RewriteState::index() {
  take_unique(index_stale_, [&](std::span<const graph::NodeId> nodes) { index_.update(nodes); });
  return index_;
}

void RewriteState::apply(const rules::Match& match) {
  const graph::Graph::Mark mark = graph_->mark();
  const rules::Rewrite& done = rewriter_.apply(match);
  touch_since(mark);
  marks_.push_back(mark);
  path_.push_back(done.match);  // `match` may live in the index
}

std::span<const graph::NodeId> RewriteState::touched_since(std::size_t depth) {
  touched_.clear();
  if (depth < marks_.size()) graph_->touched_since(marks_[depth], touched_);
  return touched_;
}

void RewriteState::rewind_to(std::size_t depth) {
  if (depth >= path_.size()) return;
  const graph::Graph::Mark mark = marks_[depth];
  touch_since(mark);
  graph_->undo_to(mark);
  marks_.resize(depth);
  path_.resize(depth);
}

double RewriteState::peek_latency_us(const rules::Match& match) {
  double seen = 0;
  peek(match, [&](const graph::Graph&, cost::CostModel& cost) { seen = cost.latency_us(); });
  return seen;
}

void RewriteState::forget_the_past() {
  constexpr std::size_t kManyWeights = 4096;  // a sweep costs as much as what it sweeps
  graph::Tables& tables = graph_->tables();
  if (path_.empty() && tables.weights().size() > first_.weights + kManyWeights)
    tables.shrink_weights(first_.weights);
  if (named_since(first_, tables.bound()) <= forget_at_) return;
  const std::vector<rules::Match> path = path_;
  rewind_to(0);
  const bool held_by_others = named_since(first_, tables.held()) > forget_at_;
  if (!held_by_others) {
    tables.shrink(first_);
    cost_ = costs_->make(*graph_);
    index_ = rules::MatchIndex(*rules_, *graph_);
    rewriter_ = rules::Rewriter(*graph_, *rules_);
    cost_stale_.clear();
    index_stale_.clear();
  }
  for (const rules::Match& match : path) apply(match);
  forget_at_ = kManyNames + 2 * named_since(first_, tables.bound());
}

RewriteState RewriteState::clone() const {
  RewriteState twin(std::make_unique<graph::Graph>(*graph_), *rules_, *costs_);
  twin.path_ = path_;
  twin.marks_ = marks_;
  return twin;
}

RewriteState::Trial::Trial(RewriteState& state, const rules::Match& match)
    : state_(state), mark_(state.graph_->mark()) {
  state_.rewriter_.apply(match);
  touched_ = std::move(state_.touched_);
  state_.graph_->touched_since(mark_, touched_);
  state_.cost_stale_.insert(state_.cost_stale_.end(), touched_.begin(), touched_.end());
}

RewriteState::Trial::~Trial() {
  state_.graph_->undo_to(mark_);
  state_.cost_stale_.insert(state_.cost_stale_.end(), touched_.begin(), touched_.end());
  state_.touched_ = std::move(touched_);
}

bool cheaper(double a_us, double b_us) {
  return a_us < b_us * (1 - 1e-9);
}

bool cheaper(const cost::Cost& a, const cost::Cost& b) {
  return cheaper(a.latency_us, b.latency_us);
}

graph::Graph replay(const graph::Graph& start, const rules::RuleSet& rules,
                    std::span<const rules::Match> path) {
  graph::Graph graph = start;
  graph.commit();
  for (const rules::Match& match : path) rules::apply(graph, rules, match);
  return graph;
}

}
