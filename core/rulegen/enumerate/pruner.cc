#include "core/rulegen/enumerate/pruner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace regraft::rulegen {
namespace {

using Node = GraphCode::Node;

constexpr std::size_t kProgressClasses = 1000;
constexpr int kOtherShapes = 2;

// Members of at most `depth` nodes, in their order.
std::vector<GraphCode> up_to(std::span<const GraphCode> members, std::size_t depth) {
  std::vector<GraphCode> out;
  std::copy_if(members.begin(), members.end(), std::back_inserter(out),
               [&](const GraphCode& code) { return code.count <= depth; });
  return out;
}

std::size_t leaf_count(const GraphCode& code) {
  std::set<std::int8_t> leaves;
  for (std::size_t n = 0; n < code.count; ++n)
    for (std::int8_t input : code.nodes[n].inputs)
      if (input < 0) leaves.insert(input);
  return leaves.size();
}

std::size_t constant_count(const GraphCode& code, const OpTable& table) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < code.count; ++n) count += table.forms[code.nodes[n].form].inputs == 0 ? 1 : 0;
  return count;
}

// Small graphs without constants first, then those of many different leaves.
struct Simpler {
  const OpTable& table;
  auto key(const GraphCode& code) const {
    return std::tuple(code.count, constant_count(code, table), -static_cast<int>(leaf_count(code)),
                      !uses_first_leaves(code, table), code);
  }
  bool operator()(const GraphCode& a, const GraphCode& b) const { return key(a) < key(b); }
};

// The simplest member of each component, simplest first.
std::vector<GraphCode> representatives(std::span<const GraphCode> members,
                                       const std::vector<std::size_t>& group, const OpTable& table) {
  const Simpler simpler{table};
  std::map<std::size_t, GraphCode> best;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [at, added] = best.try_emplace(group[i], members[i]);
    if (!added && simpler(members[i], at->second)) at->second = members[i];
  }
  std::vector<GraphCode> out;
  for (const auto& [number, code] : best) out.push_back(code);
  std::sort(out.begin(), out.end(), simpler);
  return out;
}

// The graph with a node taken away, whose output becomes a leaf.
GraphCode without(const GraphCode& code, std::size_t node, std::int8_t leaf) {
  GraphCode out;
  for (std::size_t n = 0; n < code.count; ++n) {
    if (n == node) continue;
    Node copy = code.nodes[n];
    for (std::int8_t& input : copy.inputs) {
      if (input < 0 || input == GraphCode::kNoInput) continue;
      const auto producer = static_cast<std::size_t>(input / 2);
      if (producer == node) {
        input = leaf;
      } else if (producer > node) {
        input = static_cast<std::int8_t>(input - 2);
      }
    }
    out.nodes[out.count++] = copy;
  }
  return out;
}

}  // namespace

Pruner::Pruner(const OpTable& table, const PointEvaluator& evaluator, const GenerateOptions& options,
               std::function<bool()> is_over, ThreadPool& threads)
    : table_(table),
      evaluator_(evaluator),
      options_(options),
      is_over_(std::move(is_over)),
      threads_(threads),
      linker_(table) {
  other_tables_.reserve(kOtherShapes);
  for (int variant = 1; variant <= kOtherShapes; ++variant) {
    other_tables_.push_back(on_other_shapes(table, variant));
    others_.emplace_back(other_tables_.back(), options.seed + static_cast<std::uint64_t>(variant));
  }
}

bool Pruner::over() {
  if (!over_ && is_over_()) over_ = true;
  return over_;
}

Pruner::Open Pruner::open_class(Members members, std::size_t depth) const {
  Open open;
  open.members = up_to(members, depth);
  open.components = open.members.size();
  open.group.resize(open.members.size());
  std::iota(open.group.begin(), open.group.end(), 0);
  link(open);
  return open;
}

void Pruner::join(Open& open, const GraphCode& a, const GraphCode& b) const {
  const auto group_of = [&](const GraphCode& code) {
    const auto at = std::lower_bound(open.members.begin(), open.members.end(), code);
    return at == open.members.end() || *at != code
               ? open.members.size()
               : open.group[static_cast<std::size_t>(at - open.members.begin())];
  };
  const std::size_t from = group_of(a), to = group_of(b);
  if (from == to || from == open.members.size() || to == open.members.size()) return;
  std::replace(open.group.begin(), open.group.end(), from, to);
  --open.components;
}

// Joins members that one use of a rule leads between.
void Pruner::link(Open& open) const {
  for (std::size_t i = 0; i < open.members.size() && open.components > 1; ++i) {
    const GraphCode from = open.members[i];
    linker_.visit(from, open.rules, [&](const GraphCode& reached) { join(open, from, reached); });
  }
  open.rules = linker_.size();
}

// Parts that both graphs compute in the same way become leaves: more general, where it still holds. Returns
// the values of the new leaves.
std::vector<PointValue> Pruner::generalise(GraphCode& a, GraphCode& b) const {
  std::vector<PointValue> more;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < a.count && !changed; ++n) {
      const Node& node = a.nodes[n];
      const auto is_leaf = [](std::int8_t i) { return i < 0 || i == GraphCode::kNoInput; };
      if (!std::all_of(node.inputs.begin(), node.inputs.end(), is_leaf) ||
          table_.forms[node.form].outputs > 1)
        continue;
      const auto* same = std::find(b.nodes.begin(), b.nodes.begin() + b.count, node);
      if (same == b.nodes.begin() + b.count) continue;
      const auto m = static_cast<std::size_t>(same - b.nodes.begin());
      const auto is_root = [&](const GraphCode& code, std::size_t at) {
        const auto roots = roots_of(code, table_);
        return std::find(roots.begin(), roots.end(), static_cast<std::int8_t>(2 * at)) != roots.end();
      };
      if (is_root(a, n) || is_root(b, m)) continue;
      PointValue value = evaluator_.values_of(a, more)[n][0];
      const auto leaf = static_cast<std::int8_t>(-1 - static_cast<int>(table_.leaves.size() + more.size()));
      more.push_back(std::move(value));
      a = without(a, n, leaf);
      b = without(b, m, leaf);
      changed = true;
    }
  }
  a = a.count > 0 ? canonical(a, table_) : a;
  b = b.count > 0 ? canonical(b, table_) : b;
  return more;
}

// Roots of b in the order of those of a.
std::vector<std::int8_t> Pruner::aligned_roots(const GraphCode& a, const GraphCode& b,
                                               std::span<const PointValue> more) const {
  if (b.count == 0) return {b.nodes[0].inputs[0]};
  const auto wanted = evaluator_.root_prints(a, more), found = evaluator_.root_prints(b, more);
  const auto roots = roots_of(b, table_);
  std::vector<std::int8_t> out;
  for (const Hash128& print : wanted) {
    const auto at = std::find(found.begin(), found.end(), print);
    if (at == found.end())
      throw RulegenError("graphs of one class have different roots", "generator", "report this");
    out.push_back(roots[static_cast<std::size_t>(at - found.begin())]);
  }
  return out;
}

// Whether the graphs are equal for all values of the leaves that stand for shared parts.
bool Pruner::holds_generally(const GraphCode& a, const GraphCode& b, std::span<const PointValue> more) const {
  std::vector<PointValue> random(more.begin(), more.end());
  Rng rng(options_.seed, "generalised-leaves");
  for (PointValue& leaf : random) {
    for (HostTensor& t : leaf.at) t = field_random(t.dims, rng);
    leaf.constant = false;
  }
  const auto sorted = [&](const GraphCode& code) {
    std::vector<Hash128> prints = evaluator_.root_prints(code, random);
    std::sort(prints.begin(), prints.end());
    return prints;
  };
  return sorted(a) == sorted(b);
}

bool Pruner::holds_on_other_shapes(const GraphCode& a, const GraphCode& b) const {
  return std::all_of(others_.begin(), others_.end(), [&](const PointEvaluator& other) {
    if (!other.well_typed(a) || !other.well_typed(b)) return false;
    std::vector<Hash128> of_a = other.root_prints(a), of_b = other.root_prints(b);
    std::sort(of_a.begin(), of_a.end());
    std::sort(of_b.begin(), of_b.end());
    return of_a == of_b;
  });
}

void Pruner::accept(const GraphCode& a, const GraphCode& b, std::vector<PointValue> more, std::size_t depth) {
  linker_.add({a, b, aligned_roots(a, b, more)});
  pair_of_rule_.push_back(pairs_.size());
  if (b.count > 0) {
    linker_.add({b, a, aligned_roots(b, a, more)});
    pair_of_rule_.push_back(pairs_.size());
  }
  pairs_.push_back({a, b, std::move(more), depth});
}

bool Pruner::propose(const GraphCode& a, const GraphCode& b, std::size_t depth) {
  if (!holds_on_other_shapes(a, b)) return false;
  GraphCode general_a = a, general_b = b;
  std::vector<PointValue> more = generalise(general_a, general_b);
  if (!more.empty() && holds_generally(general_a, general_b, more)) {
    accept(general_a, general_b, std::move(more), depth);
  } else {
    accept(a, b, {}, depth);
  }
  return true;
}

void Pruner::resolve(Open& open, std::size_t depth) {
  std::set<GraphCode> given_up;
  link(open);
  for (bool again = open.components > 1; again;) {
    again = false;
    const std::vector<GraphCode> simplest = representatives(open.members, open.group, table_);
    for (std::size_t i = 1; i < simplest.size() && !again; ++i) {
      if (given_up.contains(simplest[i])) continue;
      again = propose(simplest[i], simplest[0], depth);
      if (again) join(open, simplest[i], simplest[0]);
      if (!again) given_up.insert(simplest[i]);
    }
    link(open);
    again = again && open.components > 1;
  }
}

// Whether one use of another rule that is not dropped leads from one side of a pair to the other.
bool Pruner::follows(std::size_t pair) const {
  const auto leads = [&](const GraphCode& from, const GraphCode& to) {
    bool found = false;
    for (std::size_t r = 0; r < linker_.size() && !found; ++r) {
      if (pair_of_rule_[r] == pair || dropped_[pair_of_rule_[r]]) continue;
      linker_.visit_one(from, r, [&](const GraphCode& reached) { found = found || reached == to; });
    }
    return found;
  };
  const Pair& p = pairs_[pair];
  return leads(p.a, p.b) || (p.b.count > 0 && leads(p.b, p.a));
}

TermRule Pruner::terms_of(const Pair& pair) const {
  TermRule rule{to_term(pair.a, table_), to_term(pair.b, table_), {}};
  for (const LeafSpec& leaf : table_.leaves) rule.ranks.push_back(static_cast<int>(leaf.dims.size()));
  for (const PointValue& leaf : pair.more) rule.ranks.push_back(static_cast<int>(leaf.at[0].dims.size()));
  rule.right.roots.clear();
  for (std::int8_t root : aligned_roots(pair.a, pair.b, pair.more))
    rule.right.roots.push_back(root < 0 ? Ref::leaf(-1 - root) : Ref::output(root / 2, root % 2));
  return normal_form(rule, table_.forms, table_.relu);
}

void Pruner::write(Generation& out) {
  const std::vector<TextOptions> texts = {{.any_axis = true, .any_window = true, .guards = {}},
                                          {.any_axis = false, .any_window = true, .guards = {}},
                                          {.any_axis = true, .any_window = false, .guards = {}},
                                          {.any_axis = false, .any_window = false, .guards = {}}};
  std::vector<TermRule> ways;  // forward, backward
  std::set<TermRule> seen;     // equal ones differ in what is written out
  std::vector<std::size_t> depths;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    if (dropped_[p]) continue;
    TermRule forward = terms_of(pairs_[p]);
    if (forward.left == forward.right || !seen.insert(forward).second) continue;
    TermRule backward{forward.right, forward.left, forward.ranks};
    backward = normal_form(backward, table_.forms, table_.relu);
    if (!seen.insert(backward).second && backward != forward) continue;
    ways.push_back(std::move(forward));
    ways.push_back(std::move(backward));
    depths.push_back(pairs_[p].depth);
  }
  std::vector<CheckedRule> found(ways.size());
  const CheckOptions check{
      .wanted = options_.examples, .attempts = 100 * options_.examples, .seed = options_.seed};
  threads_.parallel_for(ways.size(), [&](std::size_t i) {
    if (!ways[i].left.nodes.empty() && !over())
      found[i] = find_sound_text("r", ways[i], table_.forms, texts, check);
  });
  if (over_) return;
  std::set<std::string> lines;
  for (std::size_t i = 0; i < ways.size(); i += 2) {
    GeneratedRule rule{depths[i / 2], ways[i], {}};
    bool contradicted = false, written = false;
    for (const CheckedRule& one : {found[i], found[i + 1]}) {
      contradicted = contradicted || !one.counterexample.empty();
      written = written || !one.text.empty();
      if (!one.text.empty() && lines.insert(one.text.substr(3)).second)
        rule.lines.push_back(one.text.substr(3));
    }
    if (!written) ++(contradicted ? out.unsound : out.unwritten);
    if (!rule.lines.empty()) out.rules.push_back(std::move(rule));
  }
}

// Classes that fall apart, those of small graphs with many leaves first.
std::vector<std::size_t> Pruner::in_order(const std::vector<Open>& classes) const {
  const Simpler simpler{table_};
  const auto key = [&](const Open& open) {
    const auto [least, most] = std::minmax_element(open.members.begin(), open.members.end(), simpler);
    return std::tuple(least->count, -static_cast<int>(std::max(leaf_count(*least), leaf_count(*most))),
                      *least);
  };
  std::vector<std::pair<decltype(key(classes[0])), std::size_t>> keyed;
  for (std::size_t c = 0; c < classes.size(); ++c)
    if (classes[c].components > 1) keyed.emplace_back(key(classes[c]), c);
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::size_t> out;
  for (const auto& [unused, c] : keyed) out.push_back(c);
  return out;
}

void Pruner::run(const GraphClasses& classes, Generation& out,
                 const std::function<void(const std::string&)>& progress) {
  for (std::size_t depth = 1; depth <= options_.depth; ++depth) {
    std::vector<Open> open(classes.size());
    threads_.parallel_for(classes.size(), [&](std::size_t c) {
      if (!over()) open[c] = open_class(classes.of(c), depth);
    });
    if (over()) return;
    const std::vector<std::size_t> order = in_order(open);
    progress("depth " + std::to_string(depth) + ": " + std::to_string(order.size()) + " classes fall apart");
    for (std::size_t i = 0; i < order.size() && !over(); ++i) {
      resolve(open[order[i]], depth);
      if ((i + 1) % kProgressClasses == 0)
        progress("  " + std::to_string(i + 1) + " of them, " + std::to_string(pairs_.size()) + " pairs");
    }
  }
  dropped_.assign(pairs_.size(), false);
  for (std::size_t p = 0; p < pairs_.size() && !over(); ++p) dropped_[p] = follows(p);
  if (over()) return;
  const auto kept = static_cast<std::size_t>(std::count(dropped_.begin(), dropped_.end(), false));
  progress(std::to_string(pairs_.size()) + " pairs, " + std::to_string(kept) + " do not follow from others");
  write(out);
}

}
