#include "core/rules/local_match.h"

#include <algorithm>

#include "core/rules/build.h"

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

}  // namespace

void append_local_matches(const CompiledRule& rule, std::uint32_t number, const graph::Graph& graph,
                          Matcher& matcher, LegalMemo& memo, NodeId anchor, std::vector<LocalMatch>& out) {
  std::vector<InlineVector<NodeId, 8>> seen;  // in vain
  const std::size_t first = out.size();
  matcher.run(anchor, {}, [&](Bindings& found, std::span<const NodeId> trace) {
    const auto is_this = [&](std::span<const NodeId> nodes) { return std::ranges::equal(nodes, trace); };
    const bool again = std::any_of(seen.begin(), seen.end(), is_this) ||
                       std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                   [&](const LocalMatch& m) { return is_this(m.match.nodes); });
    if (again) return false;
    if (!is_legal(rule, number, graph, matcher, found, memo)) {
      seen.emplace_back(trace);
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

}  // namespace regraft::rules
