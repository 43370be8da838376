#include "core/proof/symbolic/sum_terms.h"

#include <algorithm>
#include <numeric>

namespace regraft::proof {
namespace {

using Form = Written::Form;

z3::expr_vector variables_of(z3::context& context, const std::vector<z3::expr>& list) {
  z3::expr_vector out(context);
  for (const z3::expr& e : list) out.push_back(e);
  return out;
}

std::string name_with_arity(const Written& atom) {
  return atom.name + "/" + std::to_string(atom.index.size()) +
         (atom.args.empty() ? "" : "/" + std::to_string(atom.args.size()));
}

}  // namespace

z3::expr SumTerms::translated(const z3::expr& of_another_context) {
  const unsigned id = Z3_get_ast_id(of_another_context.ctx(), of_another_context);
  const auto held = translations_.find(id);
  if (held != translations_.end()) return held->second;
  z3::expr out(context_, Z3_translate(of_another_context.ctx(), of_another_context, context_));
  translations_.emplace(id, out);
  return out;
}

z3::expr SumTerms::at(const z3::expr& index, const Places& places) {
  z3::expr e = translated(index);
  z3::expr_vector from(context_), to(context_);
  for (const auto& [variable, image] : places) {
    from.push_back(variable);
    to.push_back(image);
  }
  return e.substitute(from, to).simplify();
}

z3::expr SumTerms::fresh(const char* prefix, const z3::sort& sort) {
  return context_.constant((prefix + std::to_string(names_++)).c_str(), sort);
}

z3::expr SumTerms::number(std::int64_t numerator, std::int64_t denominator) {
  const std::string text = denominator < 0 ? std::to_string(-numerator) + "/" + std::to_string(-denominator)
                                           : std::to_string(numerator) + "/" + std::to_string(denominator);
  return context_.real_val(text.c_str());
}

z3::expr SumTerms::all(const std::vector<z3::expr>& conditions) {
  if (conditions.size() == 1) return conditions[0];
  return conditions.empty() ? context_.bool_val(true) : z3::mk_and(variables_of(context_, conditions));
}

SumTerms::Key SumTerms::key_of(const WrittenRef& written, const Places& places) {
  std::string key;
  for (const auto& [variable, image] : places) {
    for (const z3::expr& part : {variable, image}) {
      const unsigned id = Z3_get_ast_id(context_, part);
      alive_.emplace(id, part);
      key += std::to_string(id) + " ";
    }
  }
  return {written.get(), key};
}

bool SumTerms::has_sum(const WrittenRef& written) {
  const auto held = has_sum_.find(written.get());
  if (held != has_sum_.end()) return held->second;
  const bool found =
      written->form == Form::sum ||
      std::ranges::any_of(written->args, [&](const WrittenRef& part) { return has_sum(part); });
  return has_sum_[written.get()] = found;
}

z3::expr SumTerms::atom(const WrittenRef& written, const Places& places, const std::vector<z3::expr>& args) {
  z3::sort_vector sorts(context_);
  z3::expr_vector all(context_);
  for (const z3::expr& i : written->index) {
    all.push_back(at(i, places));
    sorts.push_back(context_.int_sort());
  }
  for (const z3::expr& arg : args) {
    all.push_back(arg);
    sorts.push_back(context_.real_sort());
  }
  const std::string name = name_with_arity(*written);
  if (all.empty()) return context_.real_const(name.c_str());
  return context_.function(name.c_str(), sorts, context_.real_sort())(all);
}

// An expression of its parts; nothing for sums and atoms.
std::optional<z3::expr> SumTerms::arithmetic(const Written& written, const Places& places,
                                             const std::function<z3::expr(std::size_t)>& part) {
  switch (written.form) {
    case Form::number:
      return number(written.numerator, written.denominator);
    case Form::add:
      return part(0) + part(1);
    case Form::multiply:
      return part(0) * part(1);
    case Form::negate:
      return -part(0);
    case Form::guarded:
      return z3::ite(at(written.index[0], places), part(0), number(0, 1));
    default:
      return std::nullopt;
  }
}

z3::expr SumTerms::value(const WrittenRef& written, const Places& places) {
  const Key key = key_of(written, places);
  if (const auto held = values_.find(key); held != values_.end()) return held->second;
  const auto part = [&](std::size_t i) { return value(written->args[i], places); };
  const auto made = [&]() -> z3::expr {
    if (const auto known = arithmetic(*written, places, part)) return *known;
    if (written->form == Form::sum) {
      z3::expr sum = fresh("sum!", context_.real_sort());
      sums_.emplace_back(sum, shown(written, places, 0));
      return sum;
    }
    std::vector<z3::expr> args;
    for (std::size_t i = 0; i < written->args.size(); ++i) args.push_back(part(i));
    z3::expr out = atom(written, places, args);
    if (written->name == "Relu" && written->args[0]->form == Form::atom && written->args[0]->name == "Relu")
      laws_.push_back({"Relu leaves what Relu yields", out == args[0]});
    return out;
  };
  z3::expr out = made();
  values_.emplace(key, out);
  return out;
}

// As it is written, a sum as a function of a name and a summand: for people alone.
z3::expr SumTerms::shown(const WrittenRef& written, const Places& places, int depth) {
  const auto part = [&](std::size_t i) { return shown(written->args[i], places, depth); };
  if (const auto known = arithmetic(*written, places, part)) return *known;
  if (written->form == Form::sum) {
    const z3::expr k = context_.int_const(("k" + std::to_string(depth)).c_str());
    Places inside = places;
    inside.emplace_back(translated(written->index[0]), k);
    const z3::expr summand = z3::ite(k >= 0 && k < at(written->index[1], places),
                                     shown(written->args[0], inside, depth + 1), number(0, 1));
    return context_.function("sum", context_.int_sort(), context_.real_sort(), context_.real_sort())(k,
                                                                                                     summand);
  }
  std::vector<z3::expr> args;
  for (std::size_t i = 0; i < written->args.size(); ++i) args.push_back(part(i));
  return atom(written, places, args);
}

z3::expr SumTerms::shown(const Piece& piece) {
  z3::expr_vector from(context_), to(context_);
  int depth = 0;
  for (const z3::expr& bound : piece.bounds) {
    from.push_back(bound);
    to.push_back(context_.int_const(("k" + std::to_string(depth++)).c_str()));
  }
  const Piece renamed = moved(piece, from, to);
  z3::expr body = number(1, 1);
  for (std::size_t i = 0; i < renamed.factors.size(); ++i) {
    const z3::expr factor = shown(renamed.factors[i].atom, renamed.factors[i].places, depth);
    body = i == 0 ? factor : body * factor;
  }
  if (!renamed.guards.empty()) body = z3::ite(all(renamed.guards), body, number(0, 1));
  for (unsigned i = to.size(); i-- > 0;)
    body = context_.function("sum", context_.int_sort(), context_.real_sort(), context_.real_sort())(to[i],
                                                                                                     body);
  return body;
}

SumTerms::Piece SumTerms::moved(const Piece& piece, const z3::expr_vector& from,
                                const z3::expr_vector& to) const {
  Piece out = piece;
  for (z3::expr& guard : out.guards) guard = guard.substitute(from, to).simplify();
  for (Factor& factor : out.factors) {
    for (auto& [variable, image] : factor.places) image = image.substitute(from, to).simplify();
  }
  return out;
}

z3::expr SumTerms::product(const Piece& piece) {
  z3::expr out = number(1, 1);
  for (std::size_t i = 0; i < piece.factors.size(); ++i) {
    const z3::expr factor = value(piece.factors[i].atom, piece.factors[i].places);
    out = i == 0 ? factor : out * factor;
  }
  return piece.guards.empty() ? out : z3::ite(all(piece.guards), out, number(0, 1));
}

z3::expr SumTerms::named_sum(const Piece& piece) {
  z3::expr sum = fresh("sum!", context_.real_sort());
  sums_.emplace_back(sum, shown(piece));
  return sum;
}

// The same sum over other variables, times the first.
SumTerms::Piece SumTerms::times(const Piece& a, const Piece& b) {
  z3::expr_vector from(context_), to(context_);
  for (const z3::expr& bound : b.bounds) {
    from.push_back(bound);
    to.push_back(fresh("b!", context_.int_sort()));
  }
  const Piece other = moved(b, from, to);
  Piece out = a;
  if (__builtin_mul_overflow(a.numerator, b.numerator, &out.numerator) ||
      __builtin_mul_overflow(a.denominator, b.denominator, &out.denominator))
    throw std::overflow_error("a coefficient of more than 63 bits");
  const std::int64_t common = std::gcd(out.numerator, out.denominator);
  if (common > 1) {
    out.numerator /= common;
    out.denominator /= common;
  }
  for (unsigned i = 0; i < to.size(); ++i) out.bounds.push_back(to[i]);
  out.guards.insert(out.guards.end(), other.guards.begin(), other.guards.end());
  out.factors.insert(out.factors.end(), other.factors.begin(), other.factors.end());
  return out;
}

std::vector<SumTerms::Piece> SumTerms::pieces(const WrittenRef& written, const Places& places) {
  std::vector<Piece> out;
  switch (written->form) {
    case Form::number:
      out.push_back(written->denominator < 0 ? Piece{-written->numerator, -written->denominator, {}, {}, {}}
                                             : Piece{written->numerator, written->denominator, {}, {}, {}});
      break;
    case Form::atom:
      out.push_back({1, 1, {}, {}, {{written, places}}});
      break;
    case Form::add:
      for (const WrittenRef& part : written->args) {
        for (Piece& piece : pieces(part, places)) out.push_back(std::move(piece));
      }
      break;
    case Form::multiply: {
      const std::vector<Piece> a = pieces(written->args[0], places), b = pieces(written->args[1], places);
      for (const Piece& x : a) {
        for (const Piece& y : b) out.push_back(times(x, y));
      }
      break;
    }
    case Form::negate:
      out = pieces(written->args[0], places);
      for (Piece& piece : out) piece.numerator = -piece.numerator;
      break;
    case Form::guarded:
      out = pieces(written->args[0], places);
      for (Piece& piece : out) piece.guards.push_back(at(written->index[0], places));
      break;
    case Form::sum: {
      const z3::expr k = fresh("b!", context_.int_sort());
      Places inside = places;
      inside.emplace_back(translated(written->index[0]), k);
      out = pieces(written->args[0], inside);
      for (Piece& piece : out) {
        piece.bounds.push_back(k);
        piece.guards.push_back(k >= 0 && k < at(written->index[1], places));
      }
      break;
    }
  }
  return out;
}

}
