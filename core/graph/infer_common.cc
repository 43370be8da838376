#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "core/graph/infer.h"

namespace regraft::graph {

void fail(const OpInfo& op, const std::string& problem) {
  throw GraphError(problem, std::string(op.name), "");
}

const TensorType& operand_type(const Tables& tables, Operands operands, std::size_t i) {
  return tables.type(operands[i].type);
}

bool has_operand(Operands operands, std::size_t i) {
  return i < operands.size() && operands[i].present;
}

TypeList one_type(Tables& tables, DType dtype, std::span<const Dim> dims) {
  return TypeList{tables.intern(dtype, dims)};
}

TypeList unranked(Tables& tables, DType dtype) {
  return TypeList{tables.intern(TensorType{dtype, false, {}})};
}

TypeList shaped_by_operand(Tables& tables, DType dtype, Operands operands, std::size_t slot) {
  if (!has_operand(operands, slot)) return unranked(tables, dtype);
  const TensorType& shape = operand_type(tables, operands, slot);
  constexpr Dim kMostDims = 16;  // a shape of more elements is no shape that a runtime takes
  if (!shape.ranked || shape.rank() != 1 || is_symbol(shape.dims[0]) || shape.dims[0] > kMostDims)
    return unranked(tables, dtype);
  Dims dims;
  for (Dim i = 0, rank = shape.dims[0]; i < rank; ++i) dims.push_back(symbol_dim(tables.fresh_symbol()));
  return one_type(tables, dtype, dims);
}

std::int64_t resolve_axis(const OpInfo& op, std::int64_t axis, std::size_t rank, bool past_end) {
  const auto bound = static_cast<std::int64_t>(rank);
  const std::int64_t resolved = axis < 0 ? axis + bound : axis;
  if (resolved < 0 || resolved >= bound + (past_end ? 1 : 0))
    fail(op, "axis " + std::to_string(axis) + " is outside of rank " + std::to_string(rank));
  return resolved;
}

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

std::int64_t narrow(const OpInfo& op, Wide size) {
  if (size < std::numeric_limits<std::int64_t>::min() || size > std::numeric_limits<std::int64_t>::max())
    fail(op, "a size does not fit 64 bits");
  return static_cast<std::int64_t>(size);
}

Dim add_dims(Tables& tables, const OpInfo& op, Dim a, Dim b) {
  if (!is_symbol(a) && !is_symbol(b)) return narrow(op, Wide{a} + b);
  if (a == 0) return b;
  if (b == 0) return a;
  const auto [first, second] = std::minmax({dim_text(tables, a), dim_text(tables, b)});
  return derived_dim(tables, "(" + first + "+" + second + ")");
}

namespace {

struct Factors {
  std::int64_t number = 1;
  std::vector<std::string> symbols;  // sorted
};

Factors factors_of(const Tables& tables, std::span<const Dim> dims) {
  Factors factors;
  for (const Dim dim : dims) {
    if (is_symbol(dim))
      factors.symbols.push_back(tables.symbol_name(dim_symbol(dim)));
    else if (__builtin_mul_overflow(factors.number, dim, &factors.number))
      throw GraphError("element count overflows 64 bits", "shape", "");
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

TypeList infer_types(Tables& tables, OpKind kind, const AttrBlock& attrs, std::span<const Operand> operands) {
  const OpInfo& op = op_info(kind);
  if (!op.infer) fail(op, "has no type inference");
  const bool too_many = operands.size() > op.max_inputs && !op.is(kVariadic);
  if (operands.size() < op.min_inputs || too_many)
    fail(op, "takes no " + std::to_string(operands.size()) + " inputs");
  for (std::size_t i = 0; i < op.min_inputs; ++i)
    if (!operands[i].present) fail(op, "input " + std::to_string(i) + " is missing");
  return op.infer(tables, op, attrs, operands);
}

}  // namespace regraft::graph
