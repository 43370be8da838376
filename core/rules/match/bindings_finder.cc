#include "core/rules/match/bindings_finder.h"

#include <algorithm>
#include <array>

namespace regraft::rules {

using graph::NodeId;

Bindings* BindingsFinder::find(std::span<const NodeId> nodes) {
  const bool alive = std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph_.alive(id); });
  if (nodes.empty() || !alive) return nullptr;
  return rule_.is_siblings() ? find_set(nodes) : find_plain(nodes);
}

Bindings* BindingsFinder::find_plain(std::span<const NodeId> nodes) {
  Bindings* out = nullptr;
  matcher_.run(nodes[0], nodes, [&](Bindings& bindings, std::span<const NodeId> trace) {
    if (!std::ranges::equal(trace, nodes)) return false;
    out = &matcher_.scratch(bindings);
    return true;
  });
  return out;
}

Bindings* BindingsFinder::find_set(std::span<const NodeId> nodes) {
  const auto is_plain = [&](const Step& s) { return rule_.nodes[s.node].member_set < 0; };
  const auto plain =
      static_cast<std::size_t>(std::count_if(rule_.steps.begin(), rule_.steps.end(), is_plain));
  const std::size_t own = rule_.steps.size() - plain;
  if (nodes.size() < plain + 2 * own || (nodes.size() - plain) % own != 0) return nullptr;
  const std::size_t count = (nodes.size() - plain) / own;
  if (found_.size() < count) found_.resize(count);
  chosen_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    members_at(nodes[i * own], found_[i]);
    const Member* member = pick(found_[i], nodes.subspan(i * own, own), nodes.last(plain));
    if (!member) return nullptr;
    const auto repeated = [&](const Member* m) { return m->root == member->root; };
    if (std::ranges::any_of(chosen_, repeated)) return nullptr;
    chosen_.push_back(member);
  }
  set_ = chosen_[0]->bindings;
  assemble(rule_, std::span(chosen_).subspan(1), set_);
  return passes_set_checks(rule_, graph_, set_) ? &set_ : nullptr;
}

void BindingsFinder::members_at(NodeId root, Found& out) {
  out.count = 0;
  matcher_.run(root, {}, [&](Bindings& bindings, std::span<const NodeId>) {
    if (out.count == out.members.size()) out.members.push_back({root, bindings, {}, {}});
    Member& member = out.members[out.count];
    member.root = root;
    member.bindings = bindings;
    if (!complete(rule_, graph_, member)) return false;
    const auto earlier = std::span(out.members).first(out.count);
    const bool repeated =
        std::ranges::any_of(earlier, [&](const Member& m) { return compatible(m, member); });
    out.count += repeated ? 0 : 1;
    return false;
  });
}

// The member whose own and plain nodes are these and that fits the first member.
const Member* BindingsFinder::pick(const Found& found, std::span<const NodeId> own,
                                   std::span<const NodeId> plain) const {
  for (const Member& member : std::span(found.members).first(found.count)) {
    if (!chosen_.empty() && !compatible(*chosen_[0], member)) continue;
    InlineVector<NodeId, 8> nodes;
    append_set_nodes(rule_, std::array<const Member*, 1>{&member}, nodes);
    const bool fits =
        std::equal(own.begin(), own.end(), nodes.begin()) &&
        std::equal(plain.begin(), plain.end(), nodes.begin() + static_cast<std::ptrdiff_t>(own.size()));
    if (fits) return &member;
  }
  return nullptr;
}

}
