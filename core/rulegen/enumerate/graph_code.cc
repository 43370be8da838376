#include "core/rulegen/enumerate/graph_code.h"

#include <algorithm>
#include <utility>

namespace regraft::rulegen {
namespace {

using Node = GraphCode::Node;

bool reads_node(std::int8_t input) {
  return input >= 0 && input != GraphCode::kNoInput;
}

// Tries all topological orders and keeps the least.
class Canonicaliser {
 public:
  Canonicaliser(const GraphCode& from, const OpTable& table) : from_(from), table_(table) {
    best_.count = from.count;
    made_.count = from.count;
  }

  GraphCode run() {
    place(0);
    return best_;
  }

 private:
  void place(std::size_t at) {
    if (at == from_.count) {
      if (!found_ || made_ < best_) best_ = made_;
      found_ = true;
      return;
    }
    for (std::size_t n = 0; n < from_.count; ++n) {
      if (used_[n]) continue;
      made_.nodes[at] = from_.nodes[n];
      if (!renumber(made_.nodes[at])) continue;
      used_[n] = true;
      number_[n] = static_cast<std::int8_t>(at);
      place(at + 1);
      used_[n] = false;
    }
  }

  bool renumber(Node& node) const {
    for (std::int8_t& input : node.inputs) {
      if (!reads_node(input)) continue;
      const auto producer = static_cast<std::size_t>(input / 2);
      if (!used_[producer]) return false;
      input = static_cast<std::int8_t>(2 * number_[producer] + input % 2);
    }
    if (table_.commutative(node.form) && node.inputs[0] > node.inputs[1])
      std::swap(node.inputs[0], node.inputs[1]);
    return true;
  }

  const GraphCode& from_;
  const OpTable& table_;
  GraphCode best_, made_;
  bool found_ = false;
  std::array<bool, kMostDepth> used_{};
  std::array<std::int8_t, kMostDepth> number_{};
};

}  // namespace

GraphCode canonical(const GraphCode& code, const OpTable& table) {
  return Canonicaliser(code, table).run();
}

InlineVector<std::int8_t, 8> roots_of(const GraphCode& code, const OpTable& table) {
  std::uint32_t read = 0;
  for (std::size_t n = 0; n < code.count; ++n) {
    for (std::int8_t input : code.nodes[n].inputs) {
      if (reads_node(input)) read |= 1u << input;
    }
  }
  InlineVector<std::int8_t, 8> roots;
  for (int n = 0; n < code.count; ++n) {
    for (int port = 0; port < table.forms[code.nodes[static_cast<std::size_t>(n)].form].outputs; ++port) {
      if (!(read >> (2 * n + port) & 1u)) roots.push_back(static_cast<std::int8_t>(2 * n + port));
    }
  }
  return roots;
}

bool uses_first_leaves(const GraphCode& code, const OpTable& table) {
  std::uint64_t used = 0;
  for (std::size_t n = 0; n < std::max<std::size_t>(code.count, 1); ++n) {
    for (std::int8_t input : code.nodes[n].inputs)
      if (input < 0) used |= std::uint64_t{1} << (-1 - input);
  }
  for (std::size_t leaf = 1; leaf < table.leaves.size(); ++leaf) {
    const bool first = table.leaves[leaf - 1].dims != table.leaves[leaf].dims;
    if ((used >> leaf & 1u) != 0 && !first && (used >> (leaf - 1) & 1u) == 0) return false;
  }
  return true;
}

bool is_connected(const GraphCode& code) {
  if (code.count <= 1) return true;
  std::array<std::uint64_t, kMostDepth> leaves{};
  for (std::size_t n = 0; n < code.count; ++n) {
    for (std::int8_t input : code.nodes[n].inputs)
      if (input < 0) leaves[n] |= std::uint64_t{1} << (-1 - input);
  }
  std::uint32_t reached = 1;
  std::uint64_t reached_leaves = leaves[0];
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t n = 0; n < code.count; ++n) {
      bool touches = (leaves[n] & reached_leaves) != 0;
      for (std::int8_t input : code.nodes[n].inputs) {
        if (!reads_node(input)) continue;
        const auto producer = static_cast<std::size_t>(input / 2);
        if (reached >> producer & 1u) touches = true;
        if ((reached >> n & 1u) && !(reached >> producer & 1u)) {
          reached |= 1u << producer;
          reached_leaves |= leaves[producer];
          grown = true;
        }
      }
      if (!touches || (reached >> n & 1u)) continue;
      reached |= 1u << n;
      reached_leaves |= leaves[n];
      grown = true;
    }
  }
  return reached == (1u << code.count) - 1;
}

Term to_term(const GraphCode& code, const OpTable& table) {
  const auto ref = [](std::int8_t input) {
    return input < 0 ? Ref::leaf(-1 - input) : Ref::output(input / 2, input % 2);
  };
  Term term;
  for (std::size_t n = 0; n < code.count; ++n) {
    TermNode node{code.nodes[n].form, {}};
    for (std::int8_t input : code.nodes[n].inputs)
      if (input != GraphCode::kNoInput) node.inputs.push_back(ref(input));
    term.nodes.push_back(std::move(node));
  }
  if (code.count == 0) term.roots.push_back(ref(code.nodes[0].inputs[0]));
  for (std::int8_t root : roots_of(code, table)) term.roots.push_back(ref(root));
  return term;
}

}
