#include "core/rules/match/local_match.h"

#include <algorithm>

#include "core/rules/instantiate/builder.h"
#include "core/rules/instantiate/legal.h"

namespace regraft::rules {

using graph::NodeId;

namespace {

bool is_legal(const CompiledRule& rule, std::uint32_t number, const graph::Graph& graph, Matcher& matcher,
              const Bindings& found, LegalMemo& memo) {
  const auto check = [&] {
    return check_types(rule, graph, matcher.scratch(found), memo.operations()).empty();
  };
  if (!rule.decided_by_bindings) return check();
  memo.begin(number);
  memo.add(graph, found.plain);
  for (const Frames& members : found.members) {
    memo.add_count(members.size());
    for (const Frame& member : members) memo.add(graph, member);
  }
  return memo.legal(check);
}

/// Matches that were looked at in vain; few.
class Refused {
 public:
  void add(std::span<const NodeId> nodes) {
    held_.push_back(static_cast<NodeId>(nodes.size()));
    for (const NodeId id : nodes) held_.push_back(id);
  }
  bool holds(std::span<const NodeId> nodes) const {
    for (std::size_t at = 0; at < held_.size(); at += 1 + held_[at])
      if (std::ranges::equal(std::span(held_.data() + at + 1, held_[at]), nodes)) return true;
    return false;
  }

 private:
  InlineVector<NodeId, 16> held_;  // before the nodes of each, how many they are
};

}  // namespace

void append_local_matches(const CompiledRule& rule, std::uint32_t number, const graph::Graph& graph,
                          Matcher& matcher, LegalMemo& memo, NodeId anchor, std::vector<LocalMatch>& out) {
  Refused refused;
  const std::size_t first = out.size();
  matcher.run(anchor, {}, [&](Bindings& found, std::span<const NodeId> trace) {
    const auto is_this = [&](const LocalMatch& m) { return std::ranges::equal(m.match.nodes, trace); };
    const bool again = refused.holds(trace) ||
                       std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), is_this);
    if (again) return false;
    if (!is_legal(rule, number, graph, matcher, found, memo)) {
      refused.add(trace);
      return false;
    }
    LocalMatch& local = out.emplace_back();
    local.match.rule = number;
    local.match.nodes = InlineVector<NodeId, 8>(trace);
    if (rule.always_acyclic) return false;
    const auto reads = read_values(rule, found);
    local.reads.assign(reads.begin(), reads.end());
    for_each_replacement(
        rule, found, [&](const Tensor& before, const Tensor&) { local.replaced.push_back(before.value); });
    return false;
  });
}

}
