#include "core/rules/locate.h"

#include <algorithm>
#include <array>

#include "core/rules/matcher.h"
#include "core/rules/sibling_set.h"

namespace regraft::rules {
namespace {

using graph::NodeId;

std::optional<Bindings> locate_plain(const CompiledRule& rule, const graph::Graph& graph,
                                     std::span<const NodeId> nodes) {
  std::optional<Bindings> out;
  Matcher(rule, graph).run(nodes[0], nodes, [&](Bindings& bindings, std::span<const NodeId> trace) {
    if (!std::equal(trace.begin(), trace.end(), nodes.begin(), nodes.end())) return false;
    out = bindings;
    return true;
  });
  return out;
}

// Of the members at a node, the one whose own and plain nodes are these and that fits the first member.
const Member* pick(const CompiledRule& rule, std::vector<Member>& candidates, const Member* first,
                   std::span<const NodeId> own, std::span<const NodeId> plain) {
  for (Member& member : candidates) {
    if (first && !compatible(*first, member)) continue;
    InlineVector<NodeId, 8> nodes;
    append_set_nodes(rule, std::array<const Member*, 1>{&member}, nodes);
    const bool fits =
        std::equal(own.begin(), own.end(), nodes.begin()) &&
        std::equal(plain.begin(), plain.end(), nodes.begin() + static_cast<std::ptrdiff_t>(own.size()));
    if (fits) return &member;
  }
  return nullptr;
}

std::optional<Bindings> locate_set(const CompiledRule& rule, const graph::Graph& graph,
                                   std::span<const NodeId> nodes) {
  const auto is_plain = [&](const Step& s) { return rule.nodes[s.node].domain < 0; };
  const auto plain = static_cast<std::size_t>(std::count_if(rule.steps.begin(), rule.steps.end(), is_plain));
  const std::size_t own = rule.steps.size() - plain;
  if (nodes.size() < plain + 2 * own || (nodes.size() - plain) % own != 0) return std::nullopt;
  const std::size_t count = (nodes.size() - plain) / own;
  Matcher matcher(rule, graph);
  std::vector<std::vector<Member>> found;
  std::vector<const Member*> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    found.push_back(members_at(rule, graph, matcher, nodes[i * own]));
    const Member* member = pick(rule, found.back(), chosen.empty() ? nullptr : chosen[0],
                                nodes.subspan(i * own, own), nodes.last(plain));
    if (!member) return std::nullopt;
    const bool repeated =
        std::any_of(chosen.begin(), chosen.end(), [&](const Member* m) { return m->root == member->root; });
    if (repeated) return std::nullopt;
    chosen.push_back(member);
  }
  Bindings out = assemble(rule, chosen);
  return passes_set_checks(rule, graph, out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<Bindings> locate(const CompiledRule& rule, const graph::Graph& graph,
                               std::span<const NodeId> nodes) {
  const bool alive = std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.alive(id); });
  if (nodes.empty() || !alive) return std::nullopt;
  return rule.is_siblings() ? locate_set(rule, graph, nodes) : locate_plain(rule, graph, nodes);
}

}  // namespace regraft::rules
