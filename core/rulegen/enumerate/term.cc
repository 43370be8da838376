#include "core/rulegen/enumerate/term.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace regraft::rulegen {
namespace {

// Copies what the roots need, equal nodes once.
class Normaliser {
 public:
  Normaliser(const Term& term, const std::vector<Form>& forms, std::uint16_t relu_form,
             std::map<int, int>& leaves)
      : term_(term), forms_(forms), relu_form_(relu_form), leaves_(leaves) {}

  Term run() {
    for (Ref root : term_.roots) out_.roots.push_back(copy(root));
    return out_;
  }

 private:
  Ref copy(Ref ref) {
    if (ref.is_leaf()) {
      const auto [at, added] = leaves_.try_emplace(ref.leaf_number(), static_cast<int>(leaves_.size()));
      return Ref::leaf(at->second);
    }
    const auto held = copies_.find(ref.node());
    if (held != copies_.end()) return Ref::output(held->second, ref.port());
    const TermNode& node = term_.nodes[static_cast<std::size_t>(ref.node())];
    TermNode made{plain(node.form), {}};
    for (Ref input : node.inputs) made.inputs.push_back(copy(input));
    int number = place(std::move(made));
    if (forms_[node.form].relu) number = place({relu_form_, {Ref::output(number)}});
    copies_[ref.node()] = number;
    return Ref::output(number, ref.port());
  }

  // Forms that differ in what is written out are one.
  std::uint16_t plain(std::uint16_t form) const {
    const auto same = [&](const Form& f) {
      return f.kind == forms_[form].kind && f.attrs == forms_[form].attrs &&
             f.constant == forms_[form].constant;
    };
    return static_cast<std::uint16_t>(std::find_if(forms_.begin(), forms_.end(), same) - forms_.begin());
  }

  int place(TermNode node) {
    const auto held = std::find(out_.nodes.begin(), out_.nodes.end(), node);
    if (held != out_.nodes.end()) return static_cast<int>(held - out_.nodes.begin());
    out_.nodes.push_back(std::move(node));
    return static_cast<int>(out_.nodes.size()) - 1;
  }

  const Term& term_;
  const std::vector<Form>& forms_;
  std::uint16_t relu_form_;
  std::map<int, int>& leaves_;
  std::map<int, int> copies_;
  Term out_;
};

}  // namespace

TermRule normal_form(const TermRule& rule, const std::vector<Form>& forms, std::uint16_t relu_form) {
  std::map<int, int> leaves;
  TermRule out;
  out.left = Normaliser(rule.left, forms, relu_form, leaves).run();
  out.right = Normaliser(rule.right, forms, relu_form, leaves).run();
  out.ranks.assign(leaves.size(), kAnyRank);
  for (const auto& [before, after] : leaves) {
    if (static_cast<std::size_t>(before) < rule.ranks.size())
      out.ranks[static_cast<std::size_t>(after)] = rule.ranks[static_cast<std::size_t>(before)];
  }
  return out;
}

std::vector<int> leaves_of(const Term& term) {
  std::vector<int> out;
  const auto add = [&](Ref ref) {
    if (ref.is_leaf()) out.push_back(ref.leaf_number());
  };
  for (const TermNode& node : term.nodes) std::for_each(node.inputs.begin(), node.inputs.end(), add);
  std::for_each(term.roots.begin(), term.roots.end(), add);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool is_connected(const Term& term) {
  // Groups of nodes, joined over what they share.
  std::vector<std::size_t> group(term.nodes.size());
  std::iota(group.begin(), group.end(), 0);
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = group[a], to = group[b];
    std::replace(group.begin(), group.end(), from, to);
  };
  std::map<int, std::size_t> first_user;
  for (std::size_t n = 0; n < term.nodes.size(); ++n) {
    for (Ref input : term.nodes[n].inputs) {
      if (!input.is_leaf()) {
        join(n, static_cast<std::size_t>(input.node()));
      } else {
        const auto [at, added] = first_user.try_emplace(input.leaf_number(), n);
        if (!added) join(n, at->second);
      }
    }
  }
  return std::all_of(group.begin(), group.end(), [&](std::size_t g) { return g == group[0]; });
}

}
