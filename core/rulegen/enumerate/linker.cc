#include "core/rulegen/enumerate/linker.h"

#include <algorithm>
#include <array>

namespace regraft::rulegen {
namespace {

using Node = GraphCode::Node;

constexpr std::size_t kMostLeaves = 64;
constexpr std::int8_t kUnbound = GraphCode::kNoInput;

bool reads_node(std::int8_t input) {
  return input >= 0 && input != GraphCode::kNoInput;
}

// All ways in which a rule's left side lies in a graph, and what the graph becomes.
class Rewriter {
 public:
  Rewriter(const OpTable& table, const CodeRule& rule, const GraphCode& graph,
           const std::function<void(const GraphCode&)>& visit)
      : table_(table), rule_(rule), graph_(graph), visit_(visit) {
    leaves_.fill(kUnbound);
  }

  void run() { place(0); }

 private:
  void place(std::size_t p) {
    if (p == rule_.left.count) return rewrite();
    const Node& pattern = rule_.left.nodes[p];
    for (std::size_t n = 0; n < graph_.count; ++n) {
      const Node& node = graph_.nodes[n];
      if (used_[n] || node.form != pattern.form) continue;
      used_[n] = true;
      node_[p] = static_cast<std::int8_t>(n);
      const auto held = leaves_;
      if (unify(pattern, node.inputs[0], node.inputs[1])) place(p + 1);
      leaves_ = held;
      if (table_.commutative(node.form) && node.inputs[0] != node.inputs[1]) {
        if (unify(pattern, node.inputs[1], node.inputs[0])) place(p + 1);
        leaves_ = held;
      }
      used_[n] = false;
    }
  }

  bool unify(const Node& pattern, std::int8_t a, std::int8_t b) {
    return unify(pattern.inputs[0], a) && unify(pattern.inputs[1], b);
  }
  bool unify(std::int8_t pattern, std::int8_t input) {
    if (pattern == GraphCode::kNoInput) return true;
    if (pattern >= 0) return input == 2 * node_[static_cast<std::size_t>(pattern / 2)] + pattern % 2;
    std::int8_t& held = leaves_[static_cast<std::size_t>(-1 - pattern)];
    if (held == kUnbound) held = input;
    return held == input;
  }

  void rewrite() {
    replaced_.fill(kUnbound);
    const auto roots = roots_of(rule_.left, table_);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const int ref = 2 * node_[static_cast<std::size_t>(roots[i] / 2)] + roots[i] % 2;
      replaced_[static_cast<std::size_t>(ref)] = static_cast<std::int8_t>(i);
    }
    made_ = {};
    graph_copies_.fill(kUnbound);
    rule_copies_.fill(kUnbound);
    failed_ = false;
    InlineVector<std::int8_t, 8> wanted;
    for (std::int8_t root : roots_of(graph_, table_)) wanted.push_back(copy(root));
    if (failed_) return;
    if (made_.count == 0) {
      made_.nodes[0].inputs = {wanted[0], GraphCode::kNoInput};
    } else {
      auto found = roots_of(made_, table_);
      std::sort(wanted.begin(), wanted.end());
      if (!std::equal(found.begin(), found.end(), wanted.begin(), wanted.end())) return;
    }
    visit_(made_.count == 0 ? made_ : canonical(made_, table_));
  }

  // A value of the graph as it is after the rewrite.
  std::int8_t copy(std::int8_t ref) {
    if (!reads_node(ref)) return ref;
    const std::int8_t root = replaced_[static_cast<std::size_t>(ref)];
    if (root != kUnbound) return copy_right(rule_.right_roots[static_cast<std::size_t>(root)]);
    return copy_node(graph_, ref, graph_copies_, [this](std::int8_t input) { return copy(input); });
  }
  std::int8_t copy_right(std::int8_t ref) {
    if (ref < 0) return copy(leaves_[static_cast<std::size_t>(-1 - ref)]);
    return copy_node(rule_.right, ref, rule_copies_, [this](std::int8_t input) { return copy_right(input); });
  }

  template <typename Inputs>
  std::int8_t copy_node(const GraphCode& from, std::int8_t ref, std::array<std::int8_t, kMostDepth>& copies,
                        Inputs inputs) {
    constexpr std::int8_t kInProgress = -2;
    const auto n = static_cast<std::size_t>(ref / 2);
    if (copies[n] == kInProgress) failed_ = true;  // a cycle
    if (failed_) return 0;
    if (copies[n] == kUnbound) {
      copies[n] = kInProgress;
      Node node = from.nodes[n];
      for (std::int8_t& input : node.inputs)
        if (input != GraphCode::kNoInput) input = inputs(input);
      copies[n] = place_node(node);
    }
    return static_cast<std::int8_t>(2 * copies[n] + ref % 2);
  }

  std::int8_t place_node(const Node& node) {
    for (std::size_t n = 0; n < made_.count; ++n)
      if (made_.nodes[n] == node) return static_cast<std::int8_t>(n);
    if (made_.count == kMostDepth) failed_ = true;
    if (failed_) return 0;
    made_.nodes[made_.count] = node;
    return static_cast<std::int8_t>(made_.count++);
  }

  const OpTable& table_;
  const CodeRule& rule_;
  const GraphCode& graph_;
  const std::function<void(const GraphCode&)>& visit_;
  std::array<bool, kMostDepth> used_{};
  std::array<std::int8_t, kMostDepth> node_{};
  std::array<std::int8_t, kMostLeaves> leaves_{};
  std::array<std::int8_t, 2 * kMostDepth> replaced_{};
  std::array<std::int8_t, kMostDepth> graph_copies_{}, rule_copies_{};
  GraphCode made_;
  bool failed_ = false;
};

/// Forms of a graph, as bits.
std::uint64_t forms_of(const GraphCode& code) {
  std::uint64_t bits = 0;
  for (std::size_t n = 0; n < code.count; ++n) bits |= std::uint64_t{1} << code.nodes[n].form;
  return bits;
}

}  // namespace

void Linker::add(const CodeRule& rule) {
  const std::uint64_t forms = forms_of(rule.left);
  auto bucket =
      std::find_if(buckets_.begin(), buckets_.end(), [&](const Bucket& b) { return b.forms == forms; });
  if (bucket == buckets_.end()) bucket = buckets_.insert(bucket, {forms, {}});
  bucket->rules.push_back(rules_.size());
  rules_.push_back(rule);
}

void Linker::visit_one(const GraphCode& graph, std::size_t rule,
                       const std::function<void(const GraphCode&)>& visit) const {
  if (rules_[rule].left.count <= graph.count) Rewriter(table_, rules_[rule], graph, visit).run();
}

void Linker::visit(const GraphCode& graph, std::size_t from,
                   const std::function<void(const GraphCode&)>& visit) const {
  const std::uint64_t forms = forms_of(graph);
  for (const Bucket& bucket : buckets_) {
    if ((bucket.forms & ~forms) != 0 || bucket.rules.back() < from) continue;
    for (auto r = std::lower_bound(bucket.rules.begin(), bucket.rules.end(), from); r != bucket.rules.end();
         ++r)
      visit_one(graph, *r, visit);
  }
}

}
