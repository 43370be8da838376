#include "core/graph/derived_dims.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "core/graph/size_checks.h"

namespace regraft::graph {

Dim derived_dim(Tables& tables, const std::string& formula) {
  constexpr std::size_t kLongest = 512;  // formulas of formulas may double with every step
  return symbol_dim(formula.size() > kLongest ? tables.fresh_symbol() : tables.symbol(formula));
}

std::string dim_text(const Tables& tables, Dim dim) {
  return is_symbol(dim) ? tables.symbol_name(dim_symbol(dim)) : std::to_string(dim);
}

namespace {

/// What a dim is broadcast from: "bcast(a,bcast(b,c))" from a, b and c.
void add_terms(std::string_view text, std::set<std::string>& terms) {
  constexpr std::string_view kOpens = "bcast(";
  std::size_t comma = 0;
  if (text.starts_with(kOpens) && text.ends_with(')')) {
    text.remove_prefix(kOpens.size());
    text.remove_suffix(1);
    for (int depth = 0; comma < text.size() && (depth > 0 || text[comma] != ','); ++comma)
      depth += text[comma] == '(' ? 1 : text[comma] == ')' ? -1 : 0;
    if (comma < text.size()) {
      add_terms(text.substr(0, comma), terms);
      return add_terms(text.substr(comma + 1), terms);
    }
  }
  terms.insert(std::string(text));
}

}  // namespace

Dim broadcast_dim(Tables& tables, const OpInfo& op, Dim a, Dim b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (is_symbol(a) && is_symbol(b)) {
    std::set<std::string> terms;  // each counts once
    for (const Dim dim : {a, b}) add_terms(dim_text(tables, dim), terms);
    auto term = terms.rbegin();
    std::string formula = *term;
    while (++term != terms.rend()) formula = "bcast(" + *term + "," + formula + ")";
    return derived_dim(tables, formula);
  }
  if (is_symbol(a)) return b;
  if (is_symbol(b)) return a;
  fail(op, "cannot broadcast " + std::to_string(a) + " with " + std::to_string(b));
}

Dims broadcast(Tables& tables, const OpInfo& op, std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims dims(a);
  const std::size_t shift = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) dims[i + shift] = broadcast_dim(tables, op, a[i + shift], b[i]);
  return dims;
}

Dim add_dims(Tables& tables, const OpInfo& op, Dim a, Dim b) {
  if (!is_symbol(a) && !is_symbol(b)) return narrow(op, Wide{a} + b);
  if (a == 0) return b;
  if (b == 0) return a;
  const auto [first, second] = std::minmax({dim_text(tables, a), dim_text(tables, b)});
  return derived_dim(tables, "(" + first + "+" + second + ")");
}

namespace {

/// The factors of "(12*n*(h+1))", as dim_of() writes products; none where the text is no product.
std::vector<std::string_view> factors_in(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return {};
  std::vector<std::string_view> factors;
  std::size_t begin = 1;
  int depth = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    const char c = text[at];
    const bool ends = at + 1 == text.size();
    if (depth == 0 && !ends && (c == '+' || c == '/' || c == ')')) return {};
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if ((depth > 0 || c != '*') && !ends) continue;
    factors.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return factors.size() > 1 ? factors : std::vector<std::string_view>{};
}

struct Factors {
  std::int64_t number = 1;
  std::vector<std::string> symbols;  // sorted

  void add(std::int64_t factor) {
    if (__builtin_mul_overflow(number, factor, &number))
      throw GraphError("element count overflows 64 bits", "shape", "");
  }

  void add(std::string_view symbol) {
    const std::vector<std::string_view> inner = factors_in(symbol);
    if (inner.empty()) symbols.emplace_back(symbol);
    for (const std::string_view part : inner) {
      std::int64_t whole = 0;
      const auto [end, failure] = std::from_chars(part.begin(), part.end(), whole);
      if (failure == std::errc() && end == part.end())
        add(whole);
      else
        add(part);
    }
  }
};

Factors factors_of(const Tables& tables, std::span<const Dim> dims) {
  Factors factors;
  for (const Dim dim : dims) {
    if (is_symbol(dim))
      factors.add(tables.symbol_name(dim_symbol(dim)));
    else
      factors.add(dim);
  }
  std::sort(factors.symbols.begin(), factors.symbols.end());
  return factors;
}

Dim dim_of(Tables& tables, const Factors& factors) {
  if (factors.symbols.empty()) return factors.number;
  if (factors.symbols.size() == 1 && factors.number == 1) return derived_dim(tables, factors.symbols[0]);
  std::string formula = "(" + std::to_string(factors.number);
  for (const std::string& symbol : factors.symbols) formula += "*" + symbol;
  return derived_dim(tables, formula + ")");
}

}  // namespace

Dim product_dim(Tables& tables, std::span<const Dim> dims) {
  return dim_of(tables, factors_of(tables, dims));
}

Dim quotient_dim(Tables& tables, const OpInfo& op, std::span<const Dim> total, std::span<const Dim> parts) {
  Factors all = factors_of(tables, total);
  const Factors known = factors_of(tables, parts);
  std::vector<std::string> rest, missing;
  std::set_difference(all.symbols.begin(), all.symbols.end(), known.symbols.begin(), known.symbols.end(),
                      std::back_inserter(rest));
  std::set_difference(known.symbols.begin(), known.symbols.end(), all.symbols.begin(), all.symbols.end(),
                      std::back_inserter(missing));
  const bool divides = known.number != 0 && all.number % known.number == 0;
  if (missing.empty() && divides) return dim_of(tables, {all.number / known.number, rest});
  if (all.symbols.empty() && known.symbols.empty())
    fail(op, "cannot divide " + std::to_string(all.number) + " elements by " + std::to_string(known.number));
  return derived_dim(tables, "(" + dim_text(tables, product_dim(tables, total)) + "/" +
                                 dim_text(tables, product_dim(tables, parts)) + ")");
}

std::optional<Ints> reshape_target(std::span<const Dim> from, std::span<const Dim> to) {
  Ints target(to.begin(), to.end());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool stays = i < from.size() && from[i] == to[i];
    if (to[i] == 0 || (is_symbol(to[i]) && !stays)) return std::nullopt;
    if (is_symbol(to[i])) target[i] = 0;
  }
  return target;
}

std::optional<Ints> expand_target(std::span<const Dim> from, std::span<const Dim> to) {
  if (to.size() < from.size()) return std::nullopt;
  const std::size_t added = to.size() - from.size();
  Ints target(to.begin(), to.end());
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!is_symbol(to[i])) continue;
    if (i < added || from[i - added] != to[i]) return std::nullopt;
    target[i] = 1;
  }
  return target;
}

Dim slice_dim(Tables& tables, Dim dim, Element start, Element end, std::int64_t step) {
  const bool to_the_end = end == Element::of(dim) || (end.is_number() && end.value >= kPastAnyEnd);
  if (start == Element::number(0) && to_the_end && step == 1) return dim;
  const auto text = [&](Element bound) {
    return bound.is_number() ? std::to_string(bound.value) : dim_text(tables, bound.value);
  };
  return derived_dim(tables, "slice(" + dim_text(tables, dim) + "," + text(start) + "," + text(end) + "," +
                                 std::to_string(step) + ")");
}

}
