#include "core/proof/symbolic/sum_laws.h"

#include <algorithm>

#include "core/proof/symbolic/renaming.h"

namespace regraft::proof {
namespace {

using Form = Written::Form;

constexpr std::size_t kMostLaws = 120, kMostOrders = 20000;

// Whether they are equal, except for what is one term already.
z3::expr same(const z3::expr& a, const z3::expr& b) {
  return z3::eq(a, b) ? a.ctx().bool_val(true) : a == b;
}

z3::expr both(const z3::expr& a, const z3::expr& b) {
  return a.is_true() ? b : b.is_true() ? a : a && b;
}

z3::expr only_if(const z3::expr& a, const z3::expr& b) {
  return a.is_true() || b.is_true() ? b : z3::implies(a, b);
}

}  // namespace

void SumLaws::add(std::string name, const z3::expr& claim) {
  laws_.push_back({std::move(name), claim});
}

// Sums, and where laws multiply also products of more than one factor.
bool SumLaws::is_named(const Piece& piece) const {
  if (!piece.bounds.empty()) return true;
  return products_ == Products::by_laws && piece.factors.size() + piece.guards.size() > 1;
}

z3::expr SumLaws::total(const std::vector<Named>& parts) {
  z3::expr sum = terms_.number(0, 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Piece& piece = parts[i].piece;
    const bool one = piece.numerator == 1 && piece.denominator == 1;
    const z3::expr term =
        one ? parts[i].value : terms_.number(piece.numerator, piece.denominator) * parts[i].value;
    sum = i == 0 ? term : sum + term;
  }
  return sum;
}

std::vector<SumLaws::Named> SumLaws::named(const WrittenRef& written, const Places& places) {
  std::vector<Named> out;
  for (const Piece& piece : terms_.pieces(written, places)) {
    if (!is_named(piece)) {
      out.push_back({piece, terms_.product(piece)});
      continue;
    }
    out.push_back({piece, terms_.named_sum(piece)});
  }
  return out;
}

// The parts of a value, which the laws that are added here say to add up to it.
std::vector<SumLaws::Named> SumLaws::linked(const WrittenRef& written, const Places& places) {
  const Key key = terms_.key_of(written, places);
  if (const auto held = linked_.find(key); held != linked_.end()) return held->second;
  std::vector<Named> out;
  switch (written->form) {
    case Form::number:
    case Form::atom:
      out = named(written, places);
      break;
    case Form::add:
      for (const WrittenRef& part : written->args) {
        for (Named& each : linked(part, places)) out.push_back(std::move(each));
      }
      break;
    case Form::negate:
      out = linked(written->args[0], places);
      for (Named& each : out) each.piece.numerator = -each.piece.numerator;
      break;
    case Form::guarded: {
      const std::vector<Named> inner = linked(written->args[0], places);
      out = named(written, places);
      const z3::expr condition = terms_.at(written->index[0], places);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (is_named(out[i].piece))
          add("a condition on no variable of a sum",
              out[i].value == z3::ite(condition, inner[i].value, terms_.number(0, 1)));
      }
      break;
    }
    case Form::multiply:
      out = named(written, places);
      link_product(written, places, out);
      break;
    case Form::sum:
      out = linked_sum(written, places);
      break;
  }
  linked_.emplace(key, out);
  return out;
}

void SumLaws::link_product(const WrittenRef& written, const Places& places, const std::vector<Named>& whole) {
  const std::vector<Named> a = linked(written->args[0], places), b = linked(written->args[1], places);
  if (std::ranges::none_of(whole, [&](const Named& n) { return is_named(n.piece); })) return;
  const z3::expr x = terms_.value(written->args[0], places), y = terms_.value(written->args[1], places);
  add("a product of sums is the sum of all products",
      only_if(both(same(x, total(a)), same(y, total(b))), terms_.value(written, places) == total(whole)));
}

std::vector<SumLaws::Named> SumLaws::linked_sum(const WrittenRef& written, const Places& places) {
  const z3::expr w = terms_.fresh("w!", terms_.context().int_sort());
  Places inside = places;
  inside.emplace_back(terms_.translated(written->index[0]), w);
  const std::vector<Named> parts = linked(written->args[0], inside);
  const z3::expr body = terms_.value(written->args[0], inside), sum = terms_.value(written, places);
  // Nothing is to be taken apart: the summand is one product.
  if (parts.size() == 1 && parts[0].piece.bounds.empty() && z3::eq(body, total(parts)) &&
      parts[0].piece.numerator == 1 && parts[0].piece.denominator == 1)
    return {{terms_.pieces(written, places)[0], sum}};
  std::vector<Named> out = named(written, places);
  const z3::expr range = w >= 0 && w < terms_.at(written->index[1], places);
  add("a sum of sums is the sum over the variables of both",
      only_if(only_if(range, same(body, total(parts))), sum == total(out)));
  return out;
}

bool SumLaws::relate(const WrittenRef& left, const WrittenRef& right) {
  equalise(left, {}, right, {});
  return laws_.size() <= kMostLaws;
}

void SumLaws::equalise(const WrittenRef& left, const Places& l, const WrittenRef& right, const Places& r) {
  if (products_ == Products::by_arithmetic && !terms_.has_sum(left) && !terms_.has_sum(right)) {
    terms_.value(left, l);
    terms_.value(right, r);
    return;
  }
  if (laws_.size() > kMostLaws || !equalised_.emplace(terms_.key_of(left, l), terms_.key_of(right, r)).second)
    return;
  const std::vector<Named> a = linked(left, l), b = linked(right, r);
  for (const auto* side : {&a, &b}) {
    for (const Named& each : *side) vanish(each);
  }
  for (const Named& x : a) {
    for (const Named& y : b) {
      const Piece &p = x.piece, &q = y.piece;
      if (p.bounds.size() != q.bounds.size() || p.factors.size() != q.factors.size()) continue;
      if (p.numerator != q.numerator || p.denominator != q.denominator) continue;
      std::vector<std::size_t> order;
      pair(x, y, order);
    }
  }
}

void SumLaws::vanish(const Named& a) {
  if (!is_named(a.piece) || a.piece.guards.size() <= a.piece.bounds.size()) return;
  z3::expr_vector from(terms_.context()), to(terms_.context());
  for (const z3::expr& bound : a.piece.bounds) {
    from.push_back(bound);
    to.push_back(terms_.fresh("w!", terms_.context().int_sort()));
  }
  const z3::expr holds = terms_.all(terms_.moved(a.piece, from, to).guards);
  add("a sum of zeros is 0", z3::implies(!holds, a.value == terms_.number(0, 1)));
}

// Factors of the same name, in every order.
void SumLaws::pair(const Named& a, const Named& b, std::vector<std::size_t>& order) {
  const std::size_t next = order.size();
  if (++orders_ > kMostOrders) return;
  if (next == a.piece.factors.size()) return confirm(a, b, order);
  const Written& wanted = *a.piece.factors[next].atom;
  for (std::size_t i = 0; i < b.piece.factors.size(); ++i) {
    const Written& held = *b.piece.factors[i].atom;
    if (wanted.name != held.name || wanted.index.size() != held.index.size() ||
        wanted.args.size() != held.args.size() || std::ranges::find(order, i) != order.end())
      continue;
    order.push_back(i);
    pair(a, b, order);
    order.pop_back();
  }
}

// From places of leaves, also within functions that are applied to values of one form.
void SumLaws::learn(Renaming& renaming, const Factor& wanted, const Factor& held) {
  const Written &x = *wanted.atom, &y = *held.atom;
  if (x.form != y.form || x.form == Form::sum || x.name != y.name) return;
  for (std::size_t k = 0; x.form == Form::atom && k < std::min(x.index.size(), y.index.size()); ++k)
    renaming.learn(terms_.at(x.index[k], wanted.places), renaming.apply(terms_.at(y.index[k], held.places)));
  for (std::size_t k = 0; k < std::min(x.args.size(), y.args.size()); ++k)
    learn(renaming, {x.args[k], wanted.places}, {y.args[k], held.places});
}

void SumLaws::confirm(const Named& a, const Named& b, const std::vector<std::size_t>& order) {
  if (laws_.size() > kMostLaws) return;
  const Piece &p = a.piece, &q = b.piece;
  Renaming renaming(q.bounds, p.bounds);
  for (std::size_t round = 0; round < q.bounds.size() && !renaming.whole(); ++round) {
    for (std::size_t i = 0; i < order.size(); ++i) learn(renaming, p.factors[i], q.factors[order[i]]);
  }
  if (!renaming.whole()) return;
  z3::expr_vector from(terms_.context()), here(terms_.context()), others(terms_.context()),
      there(terms_.context());
  for (const z3::expr& bound : p.bounds) {
    from.push_back(bound);
    here.push_back(terms_.fresh("w!", terms_.context().int_sort()));
  }
  for (const z3::expr& bound : q.bounds) {
    others.push_back(bound);
    there.push_back(renaming.apply(bound).substitute(from, here).simplify());
  }
  const Piece left = terms_.moved(p, from, here), right = terms_.moved(q, others, there);
  z3::expr factors = terms_.context().bool_val(true);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Factor &x = left.factors[i], &y = right.factors[order[i]];
    factors = both(factors, same(terms_.value(x.atom, x.places), terms_.value(y.atom, y.places)));
  }
  const z3::expr holds = terms_.all(left.guards);
  if ((is_named(p) || is_named(q)) && !z3::eq(a.value, b.value))
    add("sums of equal summands are equal",
        only_if(both(same(holds, terms_.all(right.guards)), only_if(holds, factors)), a.value == b.value));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Factor &x = left.factors[i], &y = right.factors[order[i]];
    for (std::size_t k = 0; k < x.atom->args.size(); ++k)
      equalise(x.atom->args[k], x.places, y.atom->args[k], y.places);
  }
}

}
