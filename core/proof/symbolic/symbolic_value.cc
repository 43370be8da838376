#include "core/proof/symbolic/symbolic_value.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace regraft::proof {
namespace {

constexpr std::size_t kMostTerms = 400;

Summand substituted(Summand term, const z3::expr_vector& from, const z3::expr_vector& to) {
  for (z3::expr& e : term.guards) e = e.substitute(from, to);
  for (z3::expr& e : term.bounds) e = e.substitute(from, to);
  for (Atom& atom : term.factors) {
    for (z3::expr& e : atom.index) e = e.substitute(from, to);
    for (Poly& arg : atom.args) arg = proof::substituted(std::move(arg), from, to);
  }
  return term;
}

z3::expr fresh(z3::context& context) {
  return z3::expr(context, Z3_mk_fresh_const(context, "k", context.int_sort()));
}

// The same sum over other variables: two sums may then be multiplied.
Summand renamed(const Summand& term) {
  if (term.bounds.empty()) return term;
  z3::context& context = term.bounds[0].ctx();
  z3::expr_vector from(context), to(context);
  for (const z3::expr& bound : term.bounds) {
    from.push_back(bound);
    to.push_back(fresh(context));
  }
  return substituted(term, from, to);
}

Summand product(const Summand& a, const Summand& b) {
  Summand out = a;
  const Summand other = renamed(b);
  if (__builtin_mul_overflow(a.numerator, other.numerator, &out.numerator) ||
      __builtin_mul_overflow(a.denominator, other.denominator, &out.denominator))
    throw Unprovable("a coefficient of more than 63 bits");
  const std::int64_t common = std::gcd(out.numerator, out.denominator);
  if (common > 1) {
    out.numerator /= common;
    out.denominator /= common;
  }
  out.bounds.insert(out.bounds.end(), other.bounds.begin(), other.bounds.end());
  out.guards.insert(out.guards.end(), other.guards.begin(), other.guards.end());
  out.factors.insert(out.factors.end(), other.factors.begin(), other.factors.end());
  return out;
}

// Whether there are places where it is no number.
bool may_be_undefined(const Poly& a) {
  constexpr std::array kPartial = {"inverse", "Log", "Sqrt", "Pow"};
  return std::ranges::any_of(a.terms, [&](const Summand& term) {
    return std::ranges::any_of(term.factors, [&](const Atom& atom) {
      return std::ranges::find(kPartial, atom.name) != kPartial.end() ||
             std::ranges::any_of(atom.args, may_be_undefined);
    });
  });
}

template <typename Range, typename Print>
std::string joined(const Range& range, const char* between, const Print& print) {
  std::string out;
  for (const auto& each : range) out += (out.empty() ? "" : between) + print(each);
  return out;
}

std::string to_text(const Atom& atom) {
  std::string inner = joined(atom.index, ", ", [](const z3::expr& e) { return e.to_string(); });
  std::string out = atom.name;
  if (!inner.empty()) out += "[" + inner + "]";
  if (!atom.args.empty())
    out += "(" + joined(atom.args, ", ", [](const Poly& p) { return proof::to_text(p); }) + ")";
  return out;
}

std::string to_text(const Summand& term) {
  const auto plain = [](const z3::expr& e) { return e.to_string(); };
  std::string out;
  if (!term.bounds.empty()) out += "sum " + joined(term.bounds, " ", plain) + ": ";
  if (!term.guards.empty()) out += "[" + joined(term.guards, " ", plain) + "] ";
  std::string product = joined(term.factors, " ", [](const Atom& a) { return to_text(a); });
  const bool one = term.numerator == 1 && term.denominator == 1;
  if (!one || product.empty()) {
    std::string number = std::to_string(term.numerator);
    if (term.denominator != 1) number += "/" + std::to_string(term.denominator);
    product = product.empty() ? number : number + " " + product;
  }
  return out + product;
}

// What was written; no terms at all are 0.
WrittenRef written_of(const Poly& a) {
  return a.written || !a.terms.empty() ? a.written : Written::number(0, 1);
}

}  // namespace

Poly Poly::number(std::int64_t numerator, std::int64_t denominator) {
  if (numerator == 0) return {};
  return {{Summand{numerator, denominator, {}, {}, {}}}, Written::number(numerator, denominator)};
}

Poly Poly::atom(Atom atom) {
  std::vector<WrittenRef> args;
  for (const Poly& arg : atom.args) args.push_back(written_of(arg));
  WrittenRef written = Written::atom(atom.name, atom.index, std::move(args));
  return {{Summand{1, 1, {}, {}, {std::move(atom)}}}, std::move(written)};
}

Poly Poly::inverse(const Poly& of) {
  if (of.terms.size() == 1) {
    const Summand& term = of.terms[0];
    const bool plain = term.bounds.empty() && term.guards.empty();
    if (plain && term.factors.empty()) {
      Poly out = number(term.denominator, term.numerator);
      // 1 / c is defined by c alone where that is how c is written.
      if (of.written && of.written->form != Written::Form::number)
        out.written = Written::atom("inverse", {}, {of.written});
      return out;
    }
  }
  return atom({"inverse", {}, {of}});
}

Poly operator+(Poly a, const Poly& b) {
  const bool nothing = a.terms.empty() && !a.written;
  a.written = nothing ? written_of(b) : Written::of(Written::Form::add, {}, {written_of(a), written_of(b)});
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  if (a.terms.size() > kMostTerms) throw Unprovable("a sum of more than 400 terms");
  return a;
}

Poly operator*(const Poly& a, const Poly& b) {
  Poly out;
  // Nothing is left of what is multiplied by 0, and so nothing that says where it is a number.
  if ((a.terms.empty() && may_be_undefined(b)) || (b.terms.empty() && may_be_undefined(a)))
    throw Unprovable("0 times what is not a number everywhere");
  if (a.terms.size() * b.terms.size() > kMostTerms) throw Unprovable("a product of more than 400 terms");
  for (const Summand& x : a.terms) {
    for (const Summand& y : b.terms) out.terms.push_back(product(x, y));
  }
  out.written = Written::of(Written::Form::multiply, {}, {written_of(a), written_of(b)});
  return out;
}

Poly negate(Poly a) {
  a.written = Written::of(Written::Form::negate, {}, {written_of(a)});
  for (Summand& term : a.terms) term.numerator = -term.numerator;
  return a;
}

Poly guarded(Poly a, const z3::expr& condition) {
  a.written = Written::of(Written::Form::guarded, {condition}, {written_of(a)});
  for (Summand& term : a.terms) term.guards.push_back(condition);
  return a;
}

Poly sum_over(z3::context& context, const z3::expr& extent,
              const std::function<Poly(const z3::expr&)>& body) {
  const z3::expr k = fresh(context);
  Poly out = body(k);
  out.written = Written::of(Written::Form::sum, {k, extent}, {written_of(out)});
  for (Summand& term : out.terms) {
    term.bounds.push_back(k);
    term.guards.push_back(k >= 0 && k < extent);
    term = renamed(term);
  }
  return out;
}

Poly substituted(Poly a, const z3::expr_vector& from, const z3::expr_vector& to) {
  a.written = nullptr;
  for (Summand& term : a.terms) term = substituted(std::move(term), from, to);
  return a;
}

std::string to_text(const Poly& a) {
  return a.terms.empty() ? "0" : joined(a.terms, " + ", [](const Summand& t) { return to_text(t); });
}

}
