#include "core/proof/symbolic/equality.h"

#include <algorithm>

#include "core/proof/symbolic/renaming.h"

namespace regraft::proof {
namespace {

constexpr int kMostDepth = 12;

z3::expr all_of(z3::context& context, const std::vector<z3::expr>& conditions) {
  z3::expr all = context.bool_val(true);
  for (const z3::expr& c : conditions) all = all && c;
  return all.simplify();
}

Poly applied(const Renaming& renaming, const Poly& value, z3::context& context) {
  z3::expr_vector from(context), to(context);
  for (const auto& [variable, image] : renaming.learnt()) {
    from.push_back(variable);
    to.push_back(image);
  }
  return substituted(value, from, to);
}

void learn_from(Renaming& renaming, const Poly& a, const Poly& b);

void learn_from(Renaming& renaming, const Atom& a, const Atom& b) {
  for (std::size_t i = 0; i < a.index.size() && i < b.index.size(); ++i)
    renaming.learn(a.index[i], b.index[i]);
  for (std::size_t i = 0; i < a.args.size() && i < b.args.size(); ++i)
    learn_from(renaming, a.args[i], b.args[i]);
}

// Learns from functions of sums, where the sums can be paired in one way only.
void learn_from(Renaming& renaming, const Poly& a, const Poly& b) {
  for (const Summand& x : a.terms) {
    for (const Summand& y : b.terms) {
      if (x.factors.size() != 1 || y.factors.size() != 1 || x.factors[0].name != y.factors[0].name) continue;
      if (x.bounds.empty() && y.bounds.empty()) learn_from(renaming, x.factors[0], y.factors[0]);
    }
  }
}

}  // namespace

bool Equality::follows(const std::vector<z3::expr>& facts, const z3::expr& goal) {
  return state_.follows(z3::implies(all_of(state_.context(), facts), goal));
}

bool Equality::possible(const std::vector<z3::expr>& facts) {
  return !state_.follows(!all_of(state_.context(), facts));
}

// Without the terms and guards that the facts decide; what they leave open is added to `open`.
Poly Equality::pruned(const Poly& a, const std::vector<z3::expr>& facts, std::vector<z3::expr>& open) {
  Poly out;
  for (const Summand& term : a.terms) {
    Summand kept = term;
    kept.guards.clear();
    bool vanishes = false;
    for (const z3::expr& guard : term.guards) {
      if (!contains(guard, term.bounds)) {
        if (follows(facts, guard)) {
          obligations_.push_back({facts, guard});
          continue;
        }
        if (follows(facts, !guard)) {
          obligations_.push_back({facts, !guard});
          vanishes = true;
          break;
        }
        open.push_back(guard);
      }
      kept.guards.push_back(guard);
    }
    if (vanishes) continue;
    if (!term.bounds.empty()) {
      // A sum over nothing.
      std::vector<z3::expr> inside = facts;
      inside.insert(inside.end(), kept.guards.begin(), kept.guards.end());
      if (!possible(inside)) {
        obligations_.push_back({facts, !all_of(state_.context(), kept.guards)});
        continue;
      }
    }
    for (Atom& atom : kept.factors) {
      for (Poly& arg : atom.args) {
        std::vector<z3::expr> inner;
        arg = pruned(arg, facts, inner);
        for (const z3::expr& guard : inner) {
          if (!contains(guard, term.bounds)) open.push_back(guard);
        }
      }
    }
    out.terms.push_back(std::move(kept));
  }
  return out;
}

bool Equality::equal(const Poly& a, const Poly& b, const std::vector<z3::expr>& facts) {
  if (++depth_ > kMostDepth) throw Unprovable("too many cases of one place");
  std::vector<z3::expr> open;
  const Poly x = pruned(a, facts, open), y = pruned(b, facts, open);
  bool proved = true;
  if (open.empty()) {
    proved = pair_terms(x.terms, y.terms, facts);
  } else {
    for (const bool holds : {true, false}) {
      std::vector<z3::expr> more = facts;
      more.push_back(holds ? open[0] : !open[0]);
      if (proved && possible(more)) proved = equal(x, y, more);
    }
  }
  --depth_;
  return proved;
}

bool Equality::pair_terms(const std::vector<Summand>& a, std::vector<Summand> b,
                          const std::vector<z3::expr>& facts) {
  if (a.size() != b.size()) return false;
  for (const Summand& x : a) {
    const auto partner =
        std::find_if(b.begin(), b.end(), [&](const Summand& y) { return same_term(x, y, facts); });
    if (partner == b.end()) return false;
    b.erase(partner);
  }
  return true;
}

bool Equality::same_term(const Summand& a, const Summand& b, const std::vector<z3::expr>& facts) {
  if (a.numerator != b.numerator || a.denominator != b.denominator || a.bounds.size() != b.bounds.size() ||
      a.factors.size() != b.factors.size())
    return false;
  std::vector<std::size_t> order;
  return same_factors(a, b, 0, order, facts);
}

bool Equality::same_factors(const Summand& a, const Summand& b, std::size_t at,
                            std::vector<std::size_t>& order, const std::vector<z3::expr>& facts) {
  if (at == a.factors.size()) return confirm(a, b, order, facts);
  for (std::size_t i = 0; i < b.factors.size(); ++i) {
    const Atom &x = a.factors[at], &y = b.factors[i];
    if (x.name != y.name || x.index.size() != y.index.size() || x.args.size() != y.args.size()) continue;
    if (std::find(order.begin(), order.end(), i) != order.end()) continue;
    order.push_back(i);
    if (same_factors(a, b, at + 1, order, facts)) return true;
    order.pop_back();
  }
  return false;
}

bool Equality::confirm(const Summand& a, const Summand& b, const std::vector<std::size_t>& order,
                       const std::vector<z3::expr>& facts) {
  z3::context& context = state_.context();
  Renaming renaming(b.bounds, a.bounds);
  for (std::size_t round = 0; round < b.bounds.size() && !renaming.whole(); ++round) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      Atom image = b.factors[order[i]];
      for (z3::expr& e : image.index) e = renaming.apply(e);
      learn_from(renaming, a.factors[i], image);
    }
  }
  if (!renaming.whole()) return false;
  const z3::expr here = all_of(context, a.guards), there = renaming.apply(all_of(context, b.guards));
  z3::expr places = context.bool_val(true);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Atom& image = b.factors[order[i]];
    for (std::size_t k = 0; k < image.index.size(); ++k)
      places = places && a.factors[i].index[k] == renaming.apply(image.index[k]);
  }
  const z3::expr goal = (here == there && z3::implies(here, places)).simplify();
  if (!follows(facts, goal)) return false;
  std::vector<z3::expr> inside = facts;
  inside.push_back(here);
  const std::size_t mark = obligations_.size();
  if (!goal.is_true()) obligations_.push_back({facts, goal});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Atom& image = b.factors[order[i]];
    for (std::size_t k = 0; k < image.args.size(); ++k) {
      if (equal(a.factors[i].args[k], applied(renaming, image.args[k], context), inside)) continue;
      obligations_.resize(mark, ProofObligation{{}, context.bool_val(true)});
      return false;
    }
  }
  return true;
}

}
